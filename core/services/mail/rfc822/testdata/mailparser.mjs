// Writes what the npm package mailparser finds in the mails of a folder, for TestAgainstMailparser:
// node mailparser.mjs FOLDER > FOLDER/mailparser.json
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { simpleParser } = createRequire(process.cwd() + '/')('mailparser');
const all = {};
for (const name of readdirSync(process.argv[2])) {
  if (name === 'mailparser.json') continue;
  try {
    const m = await simpleParser(readFileSync(process.argv[2] + '/' + name), { skipTextToHtml: true, skipHtmlToText: true, skipImageLinks: true, skipTextLinks: true });
    all[name] = {
      subject: m.subject || '', from: m.from?.value?.[0]?.address || '', text: m.text || '', html: m.html || '',
      attachments: m.attachments.map((a) => ({ name: a.filename || '', sha256: createHash('sha256').update(a.content).digest('hex') })),
    };
  } catch (e) {
    all[name] = { error: String(e) };
  }
}
console.log(JSON.stringify(all));
