# Indexes files with FTS5: fts5_index.py FOLDER DATABASE.
import pathlib, sqlite3, sys

db = sqlite3.connect(sys.argv[2])
db.execute('pragma journal_mode = wal')
db.execute("create virtual table files using fts5(path, title, text, tokenize='porter unicode61')")
for n, file in enumerate(sorted(p for p in pathlib.Path(sys.argv[1]).rglob('*') if p.is_file())):
    try:
        db.execute('insert into files values (?, ?, ?)', [str(file), file.name, file.read_text(encoding='utf-8')])
    except UnicodeDecodeError:
        continue
    if n % 500 == 499:
        db.commit()
db.commit()
