import type { PiiCategory } from '../../core/contract/plugin/guardrails/pii-categories.ts';
import { decodeBase64 } from '../decode-base64.ts';
import { byPosition, type Finding, type Span } from '../redact-findings.ts';
import { originalRange, unmask } from '../unmask.ts';
import type { Detector } from './detector.ts';
import { matchesOf } from './matches.ts';
import { nationalIds } from './national-ids.ts';
import { numbers, phoneNumbers } from './numbers.ts';
import { addresses, persons } from './persons.ts';
import { type Place, remembering } from './text-memory.ts';

/** The order matters: if two findings overlap, the earlier detector's finding is kept. */
export const detectors: readonly Detector[] = [...numbers, ...nationalIds, ...phoneNumbers, ...addresses, ...persons];

/** Length of the text before and after the end of one text that is searched for data split over this end. */
const seamChars = 64;

/**
 * Finds personal data in texts, also split over two of them, between invisible characters, in full-width forms and in base64. `owner`: the
 * workspace for which positions are remembered; absent: none are.
 */
export function searchPii(
  texts: readonly string[],
  categories: readonly PiiCategory[],
  owner?: string,
): readonly Finding<PiiCategory>[] {
  const wanted = detectors.filter(({ category }) => categories.includes(category));
  const covered = texts.map((text) => new Uint8Array(text.length));
  const found: Finding<PiiCategory>[] = [];
  const add = (kind: PiiCategory, value: string, spans: readonly Span[]): void => {
    if (spans.some((span) => covered[span.text]?.subarray(span.start, span.end).includes(1))) return;
    for (const span of spans) covered[span.text]?.fill(1, span.start, span.end);
    found.push({ kind, value, spans });
  };
  const search = (text: string) => placesIn(text, wanted);
  const places = owner === undefined ? search : remembering(owner, categories, search);
  for (const [text, original] of texts.entries()) {
    const unmasked = unmask(original);
    for (const { category, start, end } of places(unmasked.text)) {
      add(category, unmasked.text.slice(start, end), [{ text, ...originalRange(unmasked, start, end) }]);
    }
  }
  for (let text = 1; text < texts.length; text++) {
    for (const { category, value, spans } of acrossSeam(texts, text, wanted)) add(category, value, spans);
  }
  return found.sort(byPosition);
}

/** Returns the matches in a text, then those in its base64. */
function placesIn(text: string, wanted: readonly Detector[]): readonly Place[] {
  const places: Place[] = matchesOf(text, wanted).map(({ category, start, end }) => ({ category, start, end }));
  for (const { text: decoded, start, end } of decodeBase64(text)) {
    const [first] = matchesOf(decoded, wanted, 1);
    if (first) places.push({ category: first.category, start, end });
  }
  return places;
}

/** Returns what begins in the text before and ends in this one. */
function acrossSeam(texts: readonly string[], text: number, wanted: readonly Detector[]) {
  const before = texts[text - 1] as string;
  const tail = before.slice(-seamChars);
  const offset = before.length - tail.length;
  return matchesOf(tail + (texts[text] as string).slice(0, seamChars), wanted)
    .filter(({ start, end }) => start < tail.length && end > tail.length)
    .map(({ category, value, start, end }) => ({
      category,
      value,
      spans: [
        { text: text - 1, start: offset + start, end: before.length },
        { text, start: 0, end: end - tail.length },
      ],
    }));
}
