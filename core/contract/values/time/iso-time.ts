let second = Number.NaN;
let beginning = '';

/** Returns a time in milliseconds since the epoch as `2026-11-23T09:30:00.000Z`. Times of one second share most of the text. */
export function isoTime(ms: number): string {
  const whole = Math.floor(ms / 1000);
  if (whole !== second) {
    beginning = new Date(whole * 1000).toISOString().slice(0, 20);
    second = whole;
  }
  return `${beginning}${String(Math.trunc(ms - whole * 1000)).padStart(3, '0')}Z`;
}
