import { LRUCache } from 'lru-cache';
import { RE2JS } from 're2js';

/** Longest URI that is compared with a template. */
const uriLengthMax = 16_384;

/** An expression of RFC 6570: its operator and its variables. */
const expression = /\{([+#./;?&]?)([^{}]*)\}/g;

/** The text that an expression can become. Reserved characters occur only after `+` and `#`. */
const expanded: Readonly<Record<string, string>> = {
  '': '[^/?#]*',
  '+': '.*',
  '#': '(?:#.*)?',
  '.': '(?:\\.[^/?#]*)?',
  '/': '(?:/[^?#]*)?',
  ';': '(?:;[^/?#]*)?',
  '?': '(?:\\?[^#]*)?',
  '&': '(?:&[^#]*)?',
};

/**
 * Compiled templates. To compile one takes ten times as long as to compare it with a URI, and a list of 2,000 resources is compared with each disabled
 * template. A compiled template takes about 600 bytes per character, so all of them take about 40 MB.
 */
const compiled = new LRUCache<string, RE2JS>({ maxSize: 64 * 1024 });

function isTemplate(uri: string): boolean {
  return uri.includes('{');
}

/** True for a URI that begins like the expansions of the template, or is the template itself. The server decides whether it is one. */
export function mayExpand(template: string, uri: string): boolean {
  const at = template.indexOf('{');
  return template === uri || (at > 0 && uri.startsWith(template.slice(0, at)));
}

/** True for a URI that the template can become. Takes linear time, because administrators choose the template and clients the URI. */
export function isExpansion(template: string, uri: string): boolean {
  if (!isTemplate(template) || uri.length > uriLengthMax || !mayExpand(template, uri)) return false;
  let expansions = compiled.get(template);
  if (expansions === undefined) {
    expansions = compile(template);
    compiled.set(template, expansions, { size: template.length });
  }
  return expansions.matches(uri);
}

function compile(template: string): RE2JS {
  let pattern = '';
  let end = 0;
  for (const found of template.matchAll(expression)) {
    pattern += RE2JS.quote(template.slice(end, found.index)) + expanded[found[1] ?? ''];
    end = found.index + found[0].length;
  }
  return RE2JS.compile(pattern + RE2JS.quote(template.slice(end)));
}
