const colon = /\s*:\s*/y;
const scalar = /[^\s,\]}"]+/y;

/**
 * Masks values of members in a text that contains JSON, also if it is not whole. `isSecret` decides by name about strings, and `isNamed` about
 * every value but null.
 */
export function maskMembers(text: string, isSecret: (name: string) => boolean, isNamed: (name: string) => boolean): string {
  let shown = '';
  let copiedTo = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at)) {
    const nameEnd = stringEnd(text, at);
    const valueAt = endOf(colon, text, nameEnd);
    if (valueAt === nameEnd || valueAt === text.length) {
      at = nameEnd;
      continue;
    }
    const name = nameOf(text.slice(at, nameEnd));
    at = valueAt;
    if (text[valueAt] === '"' ? !isSecret(name) : !isNamed(name)) continue;
    at = valueEnd(text, valueAt);
    if (text.slice(valueAt, at) === 'null') continue;
    shown += `${text.slice(copiedTo, valueAt)}"***"`;
    copiedTo = at;
  }
  return shown + text.slice(copiedTo);
}

/** Returns the end of the string that begins at `from`: the end of the text if it is cut. A pattern would exceed the stack at some MB. */
function stringEnd(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let escapes = 0;
    while (text[at - 1 - escapes] === '\\') escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}

function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The name may be written with escapes. */
function nameOf(json: string): string {
  try {
    return String(JSON.parse(json));
  } catch {
    return json;
  }
}

function valueEnd(text: string, from: number): number {
  let depth = 0;
  let at = from;
  do {
    const char = text[at];
    if (char === '"') at = stringEnd(text, at);
    else {
      if (char === '{' || char === '[') depth += 1;
      if (char === '}' || char === ']') depth -= 1;
      at = depth === 0 && at === from ? endOf(scalar, text, at) : at + 1;
    }
  } while (depth > 0 && at < text.length);
  return at;
}
