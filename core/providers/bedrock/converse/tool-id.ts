import { createHash } from 'node:crypto';

const toolIdLengthMax = 64;

/**
 * Ids of other providers may be longer or contain other characters than Bedrock accepts. The ids of a call and its result change
 * alike.
 */
export function toolId(id: string): string {
  const plain = id.replace(/[^a-zA-Z0-9_-]/g, '_');
  if (plain.length <= toolIdLengthMax) return plain;
  return `${plain.slice(0, 31)}_${createHash('sha256').update(id).digest('hex').slice(0, 32)}`;
}
