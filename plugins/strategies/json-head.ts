import { isObject } from '../../core/contract/values/json/json.ts';

/**
 * Returns the first `charsMax` characters of a value: of a text itself, and of the JSON of anything else. Takes time for these only, so that the thousands
 * of fields of a config may name a value of 30 MB.
 */
export function jsonHead(value: unknown, charsMax: number): string {
  if (typeof value === 'string') return value.slice(0, charsMax);
  const written: Written = { text: '', charsMax };
  write(value, written);
  return written.text.slice(0, charsMax);
}

interface Written {
  text: string;
  readonly charsMax: number;
}

/** Adds the JSON of a value until the text is long enough. */
function write(value: unknown, to: Written): void {
  if (Array.isArray(value)) {
    to.text += '[';
    for (let i = 0; i < value.length && to.text.length < to.charsMax; i++) {
      if (i > 0) to.text += ',';
      write(value[i], to);
    }
    to.text += ']';
  } else if (isObject(value)) {
    to.text += '{';
    let isFirst = true;
    for (const name in value) {
      if (to.text.length >= to.charsMax) break;
      if (value[name] === undefined || !Object.hasOwn(value, name)) continue;
      to.text += `${isFirst ? '' : ','}${ofText(name, to)}:`;
      isFirst = false;
      write(value[name], to);
    }
    to.text += '}';
  } else to.text += typeof value === 'string' ? ofText(value, to) : (JSON.stringify(value) ?? 'null');
}

function ofText(text: string, { charsMax }: Written): string {
  return JSON.stringify(text.length > charsMax ? text.slice(0, charsMax) : text);
}
