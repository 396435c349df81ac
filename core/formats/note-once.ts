/** Adds a name to `call.dropped` or `call.adapted`, which list each parameter once however often it was touched. */
export function noteOnce(names: string[], name: string): void {
  if (!names.includes(name)) names.push(name);
}
