import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type PiiCategory, piiCategories } from '../../../core/contract/plugin/guardrails/pii-categories.ts';
import { detectors, searchPii } from '../../../workers/pii/search-pii.ts';

interface Labelled {
  readonly text: string;
  readonly labels: readonly { readonly category: string; readonly start: number; readonly end: number }[];
}

const corpus = readFileSync(new URL('corpus.txt', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map(read);

function read(line: string): Labelled {
  const labels: { category: string; start: number; end: number }[] = [];
  let text = '';
  let at = 0;
  for (const match of line.matchAll(/\[([A-Z_]+):((?:[^\]])+)\]/g)) {
    text += line.slice(at, match.index);
    labels.push({ category: match[1] as string, start: text.length, end: text.length + (match[2] as string).length });
    text += match[2];
    at = match.index + match[0].length;
  }
  return { text: text + line.slice(at), labels };
}

/** A finding is right if it overlaps a label of its category. */
function scores() {
  const rows = new Map(piiCategories.map((category) => [category as string, { labels: 0, found: 0, wrong: 0, missed: 0 }]));
  const mistakes: string[] = [];
  for (const { text, labels } of corpus) {
    const findings = searchPii([text], piiCategories).map(({ kind, spans: [span] }) => ({ kind, ...span }));
    const isRight = (label: Labelled['labels'][number]) =>
      findings.some(({ kind, start = 0, end = 0 }) => kind === label.category && start < label.end && label.start < end);
    for (const label of labels) {
      const row = rows.get(label.category);
      if (!row) throw new Error(`unknown category ${label.category}`);
      row.labels++;
      if (isRight(label)) row.found++;
      else {
        row.missed++;
        mistakes.push(`missed ${label.category}: ${text.slice(label.start, label.end)}`);
      }
    }
    for (const { kind, start = 0, end = 0 } of findings) {
      if (labels.some((label) => label.category === kind && start < label.end && label.start < end)) continue;
      (rows.get(kind) as { wrong: number }).wrong++;
      mistakes.push(`wrong ${kind}: ${text.slice(start, end)}`);
    }
  }
  return { rows, mistakes };
}

describe('find-pii on the labelled corpus', () => {
  const { rows, mistakes } = scores();

  it('has the precision and recall that its README states', () => {
    const percent = (part: number, whole: number) => (whole === 0 ? '–' : `${Math.round((100 * part) / whole)} %`);
    const table = [...rows]
      .map(
        ([category, { labels, found, wrong }]) =>
          `| \`${category}\` | ${labels} | ${percent(found, found + wrong)} | ${percent(found, labels)} |`,
      )
      .join('\n');
    const readme = readFileSync(new URL('../../../workers/pii/README.md', import.meta.url), 'utf8');
    expect(readme, `${table}\n${mistakes.join('\n')}`).toContain(table);
  });

  it('marks exactly the labelled text of numbers with check digits', () => {
    const exact: readonly PiiCategory[] = ['CREDIT_CARD', 'IBAN', 'SSN', 'EMAIL_ADDRESS'];
    for (const { text, labels } of corpus) {
      const findings = searchPii([text], exact);
      const expected = labels.filter(({ category }) => exact.includes(category as PiiCategory));
      expect(findings.map(({ spans }) => [spans[0]?.start, spans[0]?.end])).toEqual(
        expected.map(({ start, end }) => [start, end]),
      );
    }
  });
});

describe('the patterns', () => {
  it.each([
    ...['customerId', '{ patientName: string }', 'className: Button', 'display_name: Form', 'a signed URL'],
    ...['(name: String) => name', '- { name: HOST, value: a }', 'name: Build and test'],
    ...['surname: String', 'file name: Report', 'Customer: ID', 'customer: API'],
    ...['What is the customer ID?', 'Customer Service answers mails', 'the patient Portal', 'customer API'],
  ])('find no name in %s', (text) => {
    expect(searchPii([text], ['NAME'])).toEqual([]);
  });

  it.each(['Version 1.2.3.4', 'RFC 7644, section 3.4.2.2', 'RFC 7644 §3.4.2.2', 'urn:oid:2.5.4.42'])(
    'find no address in %s',
    (text) => {
      expect(searchPii([text], ['IP_ADDRESS'])).toEqual([]);
    },
  );

  it.each([
    ['customer Schmidt called', 'Schmidt'],
    ['Patient: Okafor', 'Okafor'],
    ['Name:Rossi', 'Rossi'],
    ['name: Chiamaka Okafor', 'Chiamaka Okafor'],
    ['My name is Ito', 'Ito'],
    ['Signed, Watson', 'Watson'],
    ['Last name: Kowalski', 'Kowalski'],
    ['first name: Ottokar', 'Ottokar'],
    ['Surname: Kowalski', 'Kowalski'],
    ['Customer Name: Kowalski', 'Kowalski'],
    ['Vorname: Ottokar', 'Ottokar'],
    ['Nachname: Kowalski', 'Kowalski'],
    ['Kundenname: Kowalski', 'Kowalski'],
    ['name: J. R. Kowalski', 'J. R. Kowalski'],
    ['Patient: KOWALSKI', 'KOWALSKI'],
    ['Customer: JADWIGA KOWALSKI', 'JADWIGA KOWALSKI'],
  ])('find the name in %s', (text, name) => {
    expect(searchPii([text], ['NAME']).map(({ value }) => value)).toEqual([name]);
  });

  const sources = detectors.flatMap(({ pattern, mark }) => [pattern.source, ...(mark ? [mark.pattern.source] : [])]);

  // With bounds everywhere a pattern takes a bounded number of steps per character, so that its time is linear in the text.
  it.each(sources.map((source) => [source]))('have no unbounded quantifier: %s', (source) => {
    const withoutClasses = source.replace(/\\./g, '_').replace(/\[(?:[^\]])*\]/g, '_');
    expect(withoutClasses).not.toMatch(/[*+]|\{\d+,\}/);
  });

  it('find full-width digits, invisible characters and base64', () => {
    const find = (text: string) => searchPii([text], ['CREDIT_CARD', 'EMAIL_ADDRESS']);
    const wide = [...'4111111111111111'].map((digit) => String.fromCodePoint(digit.charCodeAt(0) + 0xfee0)).join('');
    const spread = [...'4111111111111111'].join('\u200b');
    const encoded = Buffer.from('mail me: a.b@example.com').toString('base64');
    for (const hidden of [wide, spread, encoded]) {
      const [finding] = find(`x ${hidden} y`);
      const { start = 0, end = 0 } = finding?.spans[0] ?? {};
      expect(`x ${hidden} y`.slice(start, end)).toBe(hidden);
    }
  });

  it('find data that is split over two texts', () => {
    const findings = searchPii(['mail jane@exam', 'ple.com now'], ['EMAIL_ADDRESS']);
    expect(findings).toEqual([
      {
        kind: 'EMAIL_ADDRESS',
        value: 'jane@example.com',
        spans: [
          { text: 0, start: 5, end: 14 },
          { text: 1, start: 0, end: 7 },
        ],
      },
    ]);
  });
});
