import { createHash } from 'node:crypto';

/** Maximum length of the name of a function at OpenAI, Bedrock and most other providers. */
export const functionNameLengthMax = 64;

/** Returns the name with at most 64 characters. A longer name is cut, and a digest keeps it distinct. */
export function functionName(name: string): string {
  if (name.length <= functionNameLengthMax) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 8);
  return `${name.slice(0, functionNameLengthMax - 9)}_${digest}`;
}
