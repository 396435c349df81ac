/** Source of a regular expression for a UUID in lower case. */
export const uuidPattern = '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}';

const whole = new RegExp(`^${uuidPattern}$`, 'i');

/** Returns true for a UUID, in lower or upper case. */
export function isUuid(text: string): boolean {
  return whole.test(text);
}
