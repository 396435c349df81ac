/** Returns a count with its noun: `1 image`, `2 images`. Pass `plural` if it is not the noun with an s: `counted(2, 'entry', 'entries')`. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}
