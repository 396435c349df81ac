/** Returns JSON in printable ASCII, as header values require. */
export function asciiJson(value: object): string {
  return JSON.stringify(value).replace(/[\x7f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
