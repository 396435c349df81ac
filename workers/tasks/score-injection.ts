import type { InjectionScore, WorkerTasks } from '../../core/contract/plugin/services/worker-tasks.ts';
import { decodeBase64 } from '../decode-base64.ts';
import { signals } from '../injection/signals.ts';
import { fold } from './normalize.ts';

/** Weights of signs in the text as it is written. */
const tagCharacters = 0.8;
const bidirectional = 0.4;
const zeroWidth = 0.4;
/** Signs in decoded base64 count as this one too. */
const encoded = 0.5;

/**
 * Scores signs of prompt injection: phrases, role markers, invisible characters, encoded instructions. Texts are searched one by one and
 * joined, without disguises.
 */
export default function scoreInjection({ texts }: WorkerTasks['score-injection']['input']): InjectionScore {
  const written = texts.join('\n');
  const found = new Map<string, number>();
  if (/[\u{e0020}-\u{e007f}]/u.test(written)) found.set('tag_characters', tagCharacters);
  if (/[\u202d\u202e\u2066\u2067]/.test(written)) found.set('bidirectional_override', bidirectional);
  // A search that begins with the rare character takes 0.1 ms for 100 KB. One that begins with a letter takes 2.5 ms.
  if (/[\u200b\u2060\ufeff](?<=\p{L}.)[\u200b\u2060\ufeff]{0,19}\p{L}/u.test(written))
    found.set('zero_width_characters', zeroWidth);
  const plain = [fold(withTags(written)), ...(texts.length > 1 ? [fold(withTags(texts.join('')))] : [])].join('\n');
  const decoded = decodeBase64(written).map(({ text }) => fold(text));
  for (const { name, weight, patterns } of signals) {
    if (patterns.some((pattern) => pattern.test(plain))) found.set(name, weight);
    if (!decoded.some((text) => patterns.some((pattern) => pattern.test(text)))) continue;
    found.set(name, weight);
    found.set('encoded_text', encoded);
  }
  const innocent = [...found.values()].reduce((product, weight) => product * (1 - weight), 1);
  return { score: Math.round((1 - innocent) * 100) / 100, signals: [...found.keys()] };
}

/** Shows text that is written in tag characters, which are invisible copies of ASCII. */
function withTags(text: string): string {
  return text.replace(/[\u{e0020}-\u{e007e}]/gu, (character) =>
    String.fromCodePoint((character.codePointAt(0) as number) - 0xe0000),
  );
}
