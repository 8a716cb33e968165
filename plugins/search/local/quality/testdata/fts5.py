# Asks FTS5 for pages: fts5.py FOLDER QUESTIONS. A page is a row with title and text, ranked by bm25. Words are those of the tokenizer
# "porter unicode61"; ideographs are separated before and looked for by pairs, since the tokenizer takes a sentence of them for a word.
import json, pathlib, re, sqlite3, sys

IDEOGRAPH = re.compile(r'([\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af])')

def terms(query):
    for run in re.findall(r'[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+|[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+', query):
        if not IDEOGRAPH.match(run):
            yield '"%s"' % run
        elif len(run) == 1:
            yield '"%s"' % run
        else:
            for i in range(len(run) - 1):
                yield '"%s %s"' % (run[i], run[i + 1])

docs, questions = pathlib.Path(sys.argv[1]), json.load(open(sys.argv[2]))
answers, sets = {}, {}
for q in questions:
    name = q['set']
    if name not in sets:
        db = sqlite3.connect(':memory:')
        db.execute("create virtual table pages using fts5(path unindexed, title, text, tokenize='porter unicode61')")
        for file in sorted((docs / name).rglob('*.md')):
            text = file.read_text()
            found = re.search(r'^title:\s*(.+)$|^#\s+(.+)$', text, re.M)
            title = (found.group(1) or found.group(2)) if found else ''
            row = [IDEOGRAPH.sub(r' \1 ', s) for s in (title, text)]
            db.execute('insert into pages values (?, ?, ?)', [str(file.relative_to(docs / name))[:-3], *row])
        sets[name] = db
    match = ' OR '.join(terms(q['query']))
    rows = sets[name].execute('select path from pages where pages match ? order by bm25(pages) limit 5', [match]) if match else []
    answers[name + ' ' + q['query']] = [row[0] for row in rows]
json.dump(answers, sys.stdout)
