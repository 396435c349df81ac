import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { signals } from '../../../workers/injection/signals.ts';
import { secretPatterns } from '../../../workers/secrets/patterns.ts';
import { searchSecrets } from '../../../workers/secrets/search-secrets.ts';
import detectLanguage from '../../../workers/tasks/detect-language.ts';
import rateGibberish from '../../../workers/tasks/rate-gibberish.ts';
import scoreInjection from '../../../workers/tasks/score-injection.ts';
import { gibberish, injections, languages, secrets } from './texts.ts';

const readme = readFileSync(new URL('../../../plugins/guardrails/checks/content/README.md', import.meta.url), 'utf8');
const percent = (part: number, whole: number) => `${Math.round((100 * part) / whole)} %`;

/** Checks the row of a detector in the document. A failure lists every mistake. */
async function expectRow(name: string, labelled: typeof injections, isReported: (text: string) => boolean | Promise<boolean>) {
  let [found, wrong] = [0, 0];
  const mistakes: string[] = [];
  const wanted = labelled.filter(([, isWanted]) => isWanted).length;
  for (const [text, isWanted] of labelled) {
    const reported = await isReported(text);
    if (reported && isWanted) found++;
    if (reported && !isWanted) wrong++;
    if (reported !== isWanted) mistakes.push(`${isWanted ? 'missed' : 'wrong'}: ${text}`);
  }
  const row = `| \`${name}\` | ${wanted} | ${labelled.length - wanted} | ${percent(found, found + wrong)} | ${percent(found, wanted)} |`;
  expect(readme, `${row}\n${mistakes.join('\n')}`).toContain(row);
}

describe('precision and recall are those of the README', () => {
  it('svc.promptInjection', () =>
    expectRow('svc.promptInjection', injections, (text) => scoreInjection({ texts: [text] }).score >= 0.5));

  it('svc.gibberish', () =>
    expectRow('svc.gibberish', gibberish, (text) => {
      const { likelihood, repetition } = rateGibberish({ text });
      return likelihood !== null && (likelihood < -4.3 || repetition > 0.55);
    }));

  it('svc.secrets', () => expectRow('svc.secrets', secrets, async (text) => (await searchSecrets([text])).length > 0));

  it('svc.language', () => {
    const mistakes = languages
      .map(([text, language]) => [language, detectLanguage({ text })[0]?.language, text])
      .filter(([language, detected]) => language !== detected);
    const row = `\`svc.language\` names ${languages.length - mistakes.length} of ${languages.length} texts in 28 languages correctly`;
    expect(readme, `${row}\n${mistakes.join('\n')}`).toContain(row);
  });
});

it.each([...secretPatterns.map(({ pattern }) => pattern), ...signals.flatMap(({ patterns }) => patterns)].map((p) => [p.source]))(
  'patterns have no unbounded quantifier: %s',
  (source) => {
    const withoutClasses = source.replace(/\\./g, '_').replace(/\[(?:[^\]])*\]/g, '_');
    expect(withoutClasses).not.toMatch(/[*+]|\{\d+,\}/);
  },
);

describe('find-secrets', () => {
  const key = 'AKIAQ3EGRY6XH4P7QWER';
  it.each<[string, string[], [number, number, number][]]>([
    ['in a text', [`a ${key} b`], [[0, 2, 22]]],
    [
      'split over texts',
      [`a ${key.slice(0, 7)}`, `${key.slice(7)} b`],
      [
        [0, 2, 9],
        [1, 0, 13],
      ],
    ],
    ['between invisible characters', [`a ${[...key].join('\u200b')} b`], [[0, 2, 41]]],
    ['in base64', [`a ${Buffer.from(`key ${key}`).toString('base64')} b`], [[0, 2, 34]]],
  ])('%s', async (_name, texts, spans) => {
    const [finding] = await searchSecrets(texts);
    expect(finding?.spans.map(({ text, start, end }) => [text, start, end])).toEqual(spans);
  });
});
