/** A piece of speech with its times in seconds. */
export interface SpokenSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/** SubRip: numbered cues, a comma before the milliseconds. */
export function toSrt(segments: readonly SpokenSegment[]): string {
  return segments
    .map(({ start, end, text }, index) => `${index + 1}\n${clock(start, ',')} --> ${clock(end, ',')}\n${text.trim()}\n\n`)
    .join('');
}

/** WebVTT (https://www.w3.org/TR/webvtt1/). */
export function toVtt(segments: readonly SpokenSegment[]): string {
  const cues = segments.map(({ start, end, text }) => `${clock(start, '.')} --> ${clock(end, '.')}\n${text.trim()}\n\n`);
  return `WEBVTT\n\n${cues.join('')}`;
}

/** Maximum length of a cue made of words, in seconds. */
const cueSecondsMax = 6;

/** Joins words to cues. A new cue begins after the end of a sentence, after a pause of a second, or after six seconds. */
export function segmentsOfWords(words: readonly SpokenSegment[]): SpokenSegment[] {
  const segments: { start: number; end: number; text: string }[] = [];
  for (const { start, end, text } of words) {
    const last = segments.at(-1);
    const goesOn = last && !/[.!?。！？]$/.test(last.text) && start - last.end < 1 && end - last.start <= cueSecondsMax;
    if (goesOn) Object.assign(last, { end, text: `${last.text} ${text}` });
    else segments.push({ start, end, text });
  }
  return segments;
}

/** `00:01:02,500` */
function clock(seconds: number, mark: string): string {
  const total = Math.max(0, Math.round(seconds * 1000));
  const part = (value: number, digits = 2): string => String(Math.floor(value)).padStart(digits, '0');
  const time = `${part(total / 3_600_000)}:${part((total / 60_000) % 60)}:${part((total / 1000) % 60)}`;
  return `${time}${mark}${part(total % 1000, 3)}`;
}
