import type { WorkerTasks } from '../../core/contract/plugin/services/worker-tasks.ts';

/** Characters that show nothing: soft hyphen, zero-width, direction marks, variation selectors, tags, and combining marks. */
const invisible =
  /\p{Mn}|[\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\uffa0]|[\u{e0000}-\u{e007f}]/gu;

/** Letters of other scripts that look like Latin ones, after lower-casing. */
const lookalikes: ReadonlyMap<string, string> = new Map(
  [
    // Cyrillic, Greek, Armenian.
    ...[
      'аa',
      'вb',
      'сc',
      'ԁd',
      'еe',
      'ѐe',
      'ёe',
      'ғf',
      'һh',
      'іi',
      'їi',
      'јj',
      'кk',
      'ӏl',
      'мm',
      'нh',
      'оo',
      'рp',
      'ԛq',
      'ѕs',
      'тt',
      'уy',
      'ѵv',
      'ԝw',
      'хx',
    ],
    ...['αa', 'βb', 'ϲc', 'εe', 'ηn', 'ιi', 'κk', 'νv', 'οo', 'ρp', 'τt', 'υu', 'χx', 'օo', 'սu', 'ոn', 'հh'],
    // Latin letters of their own.
    ...['ıi', 'ɑa', 'ɡg', 'ɩi', 'ʟl', 'ɴn', 'ʀr', 'ꜱs', 'ᴄc', 'ᴇe', 'ᴏo', 'ᴛt', 'ᴜu', 'ᴀa'],
  ].map((pair) => [pair[0] as string, pair.slice(1)]),
);

const encodedMin = 8;
const encodedCharsMax = 64 * 1024;

/**
 * Returns a text in the form in which evasions meet the words that they hide: compatibility forms folded (NFKC), lower case, without invisible
 * characters, with Latin letters for their look-alikes. The texts without line breaks between them, and decoded base64, follow on lines
 * of their own.
 */
export default function normalize({ texts }: WorkerTasks['normalize']['input']): string {
  const plain = fold(texts.join('\n'));
  const joined = texts.length > 1 ? [fold(texts.join(''))] : [];
  return [plain, ...joined, ...decoded(texts.join('\n')).map(fold)].join('\n');
}

/** Folds one word of a check in the same way. */
export function fold(text: string): string {
  const folded = text.normalize('NFKD').replace(invisible, '').normalize('NFKC').toLowerCase();
  return folded.replace(/[^\x00-\x7f]/g, (letter) => lookalikes.get(letter) ?? letter);
}

/** Returns the readable texts among the base64 runs of a text. */
function decoded(text: string): string[] {
  const runs = text.slice(0, encodedCharsMax).match(/[A-Za-z0-9+/_-]{8,}={0,2}/g) ?? [];
  return runs.flatMap((run) => {
    if (run.length < encodedMin) return [];
    const bytes = Buffer.from(run, run.includes('-') || run.includes('_') ? 'base64url' : 'base64');
    const value = bytes.toString('utf8');
    return /^[\t\n\r\x20-\x7e\u00a0-\ud7ff]+$/.test(value) ? [value] : [];
  });
}
