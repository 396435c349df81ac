/** Returns the middle value, or the mean of the two middle ones. NaN without values. */
export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) return Number.NaN;
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? (sorted[middle] as number) : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2;
}

/** Formats a number with three significant figures and thousands separators. `–` for NaN. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return '–';
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}

/** Formats the median with the smallest and largest value: `23 (21–26)`. */
export function withSpread(values: readonly number[]): string {
  const finite = values.filter(Number.isFinite);
  if (finite.length === 0) return '–';
  if (finite.length === 1) return shown(finite[0] as number);
  return `${shown(median(finite))} (${shown(Math.min(...finite))}–${shown(Math.max(...finite))})`;
}
