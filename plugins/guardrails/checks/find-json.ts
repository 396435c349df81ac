/** Returns the JSON of a text: of its code blocks first, then of the text from its first brace. Null if there is none. */
export function findJson(text: string): unknown {
  for (const [, block] of text.matchAll(/```[^\n]*\n([\s\S]*?)```/g)) {
    const value = parse(block ?? '');
    if (value !== null) return value;
  }
  const start = text.indexOf('{');
  if (start < 0) return null;
  const end = endOfObject(text, start);
  return end < 0 ? null : parse(text.slice(start, end));
}

/** Returns the index behind the brace that closes the one at `start`; -1 if none does. */
function endOfObject(text: string, start: number): number {
  let depth = 0;
  let isInString = false;
  for (let i = start; i < text.length; i++) {
    const character = text[i];
    if (isInString) {
      if (character === '\\') i++;
      else if (character === '"') isInString = false;
    } else if (character === '"') isInString = true;
    else if (character === '{') depth++;
    else if (character === '}' && --depth === 0) return i + 1;
  }
  return -1;
}

function parse(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}
