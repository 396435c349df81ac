/** Maximum number of names. Headers and errors show 1,000 characters of them, and requests may have 50,000 unknown parameters. */
const namesMax = 500;

/** Adds a name to `call.dropped` or `call.adapted`. Each parameter is listed once. */
export function noteOnce(names: string[], name: string): void {
  if (names.length < namesMax && !names.includes(name)) names.push(name);
}
