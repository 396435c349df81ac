/**
 * The place of a tag in its template. `text`: the template is plain text. `string`: inside a JSON string. `structure`: in a JSON
 * document, between strings. `elements`: alone between the brackets of a JSON array.
 */
export type Context = 'text' | 'string' | 'structure' | 'elements';

/** Returns the context at the end of a literal part that begins in `context`; null if it ends within an escape sequence. */
export function contextAfter(literal: string, context: Context): Context | null {
  if (context === 'text') return 'text';
  let inString = context === 'string';
  for (let i = 0; i < literal.length; i += 1) {
    const char = literal.charCodeAt(i);
    if (char === quote) inString = !inString;
    else if (char === backslash && inString) {
      i += 1;
      if (i === literal.length) return null;
    }
  }
  return inString ? 'string' : 'structure';
}

const quote = 0x22;
const backslash = 0x5c;

/** Returns the text as it appears inside a JSON string. */
export function escapeForString(text: string): string {
  return JSON.stringify(text).slice(1, -1);
}

/** Returns a value as text of its context: escaped exactly once, never as syntax of the template. */
export function valueText(value: unknown, context: Context): string {
  if (value === undefined || value === null) return '';
  switch (context) {
    case 'text':
      return plainText(value);
    case 'string':
      return typeof value === 'number' || typeof value === 'boolean' ? String(value) : escapeForString(plainText(value));
    case 'structure':
      return JSON.stringify(value);
    case 'elements':
      return Array.isArray(value) ? listOf(value) : JSON.stringify(value);
  }
}

/** Strings as they are, lists as JSON values with commas between them, everything else as JSON. */
function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? listOf(value) : JSON.stringify(value);
}

function listOf(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join(',');
}
