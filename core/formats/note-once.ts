/** Adds a name to `call.dropped` or `call.adapted`. Each parameter is listed once. */
export function noteOnce(names: string[], name: string): void {
  if (!names.includes(name)) names.push(name);
}
