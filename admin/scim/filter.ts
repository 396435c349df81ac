import { type Filter, parse } from 'scim2-parse-filter';
import { ScimError } from './scim-error.ts';

/** Maximum length of a filter in characters. */
const lengthMax = 2_048;
/** Maximum number of comparisons. Each becomes one condition of the query. */
const comparisonsMax = 50;

/**
 * Parses a filter of RFC 7644 §3.4.2.2. Throws `invalidFilter`. The limits precede the parser: its expression for texts takes
 * exponential time on unclosed texts with line breaks, and brackets nest by recursion.
 */
export function parseFilter(text: string, field = 'filter'): Filter {
  if (text.length > lengthMax) throw invalidFilter(field, `at most ${lengthMax} characters`);
  if (/[\u0000-\u001f\u007f]/.test(text)) throw invalidFilter(field, 'control characters are not allowed');
  let filter: Filter;
  try {
    filter = parse(text);
  } catch {
    throw invalidFilter(field, 'not a filter such as userName eq "ada@example.com"');
  }
  if (comparisonsOf(filter) > comparisonsMax) throw invalidFilter(field, `at most ${comparisonsMax} comparisons`);
  return filter;
}

export function invalidFilter(field: string, reason: string): ScimError {
  return new ScimError('invalidFilter', `${field}: ${reason}`);
}

/** Returns the number of comparisons with one item. */
export function comparisonsOf(filter: Filter): number {
  if ('filters' in filter) return filter.filters.reduce((sum, one) => sum + comparisonsOf(one), 0);
  if ('filter' in filter) return comparisonsOf(filter.filter);
  if ('valFilter' in filter) return comparisonsOf(filter.valFilter);
  return 1;
}
