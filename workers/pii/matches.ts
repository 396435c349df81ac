import type { PiiCategory } from '../../core/contract/plugin/guardrails/pii-categories.ts';
import type { Detector, Mark } from './detector.ts';

export interface Match {
  readonly category: PiiCategory;
  readonly value: string;
  readonly start: number;
  readonly end: number;
}

/** Returns the valid matches of detectors in a text, detector by detector. Stops at `max` matches. */
export function matchesOf(text: string, detectors: readonly Detector[], max = Number.POSITIVE_INFINITY): Match[] {
  const found: Match[] = [];
  const digits = digitsOf(text);
  for (const detector of detectors) {
    if ((detector.digits ?? 0) > digits) continue;
    if (detector.mark) searchAtMarks(text, detector, detector.mark, found);
    else searchPart(text, 0, detector, found);
    if (found.length >= max) return found.slice(0, max);
  }
  return found;
}

/** No detector needs more digits. */
const digitsMax = 16;

function digitsOf(text: string): number {
  let digits = 0;
  for (let i = 0; i < text.length && digits < digitsMax; i++) {
    const code = text.charCodeAt(i);
    if (code >= 48 && code <= 57) digits++;
  }
  return digits;
}

/** Searches the text around marks. Parts that overlap or touch are searched as one, so that each match is found once. */
function searchAtMarks(text: string, detector: Detector, { pattern, before, after }: Mark, found: Match[]): void {
  let start = 0;
  let end = -1;
  pattern.lastIndex = 0;
  for (let mark = pattern.exec(text); mark; mark = pattern.exec(text)) {
    if (mark.index - before > end) {
      if (end >= 0) searchPart(text.slice(0, end), start, detector, found);
      start = Math.max(mark.index - before, 0);
    }
    end = pattern.lastIndex + after;
  }
  if (end >= 0) searchPart(text.slice(0, end), start, detector, found);
}

/** Searches a text from an index on. `matchAll` would compile a copy of the pattern, which takes longer than the search of a short text. */
function searchPart(text: string, from: number, { category, pattern, isValid }: Detector, found: Match[]): void {
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const value = match.groups?.value ?? match[0];
    const [start, end] = match.indices?.groups?.value ?? [match.index, match.index + value.length];
    if (!isValid || isValid(value)) found.push({ category, value, start, end });
  }
}
