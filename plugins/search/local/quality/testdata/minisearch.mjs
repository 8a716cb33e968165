// Asks MiniSearch for pages as VitePress does: minisearch.mjs FOLDER QUESTIONS. A section is a document with its title, the titles above it
// and its text.
import fs from 'node:fs'
import path from 'node:path'
import MiniSearch from 'minisearch'

const [docs, file] = process.argv.slice(2)
const questions = JSON.parse(fs.readFileSync(file, 'utf8'))

function* pages(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true })) {
    const full = path.join(folder, entry.name)
    if (entry.isDirectory()) yield* pages(full)
    else if (entry.name.endsWith('.md')) yield full
  }
}

function* sections(page, text) {
  let front = /^---\n([\s\S]*?)\n---\n/.exec(text)
  let titles = []
  let current = { title: '', titles: [], lines: [] }
  const named = front && /^title:\s*(.+)$/m.exec(front[1])
  if (named) titles = [named[1]], current.title = named[1]
  let n = 0
  const done = () => ({ id: `${page}#${n++}`, title: current.title, titles: current.titles, text: current.lines.join('\n').replace(/<[^>]*>/g, ' ') })
  let fenced = false
  for (const line of text.slice(front ? front[0].length : 0).split('\n')) {
    if (line.trimStart().startsWith('```')) fenced = !fenced
    const heading = !fenced && /^(#{1,6})\s+(.*?)\s*(\{#.*\})?\s*$/.exec(line)
    if (!heading) {
      current.lines.push(line)
      continue
    }
    yield done()
    const level = heading[1].length
    titles = titles.slice(0, level - 1)
    current = { title: heading[2], titles: titles.filter(Boolean), lines: [] }
    titles[level - 1] = heading[2]
  }
  yield done()
}

const sets = {}
const answers = {}
for (const { set, query } of questions) {
  if (!sets[set]) {
    sets[set] = new MiniSearch({ fields: ['title', 'titles', 'text'], storeFields: ['title', 'titles'] })
    for (const full of pages(path.join(docs, set))) {
      const page = path.relative(path.join(docs, set), full).replace(/\.md$/, '')
      for (const section of sections(page, fs.readFileSync(full, 'utf8'))) sets[set].add(section)
    }
  }
  const found = sets[set].search(query, { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } })
  answers[`${set} ${query}`] = [...new Set(found.map((r) => r.id.slice(0, r.id.lastIndexOf('#'))))].slice(0, 5)
}
process.stdout.write(JSON.stringify(answers))
