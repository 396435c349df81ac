import { RE2JS } from 're2js';
import type { ClaimRule, ClaimRules } from '../../../../core/contract/plugin/guardrails/token-rules.ts';
import type { JsonObject } from '../../../../core/contract/values/json/json.ts';

export type Claims = Readonly<JsonObject>;

/** Returns the issues of the claims, and a summary per parameter that was used. */
export function claimIssues(
  claims: Claims,
  { requiredClaims, claimValues, headerPayloadMatch }: ClaimRules,
  header: (name: string) => string | undefined,
): { issues: string[]; validations: JsonObject } {
  const issues: string[] = [];
  const validations: JsonObject = {};
  if (requiredClaims.length > 0) {
    const missing = requiredClaims.filter((claim) => claims[claim] === undefined || claims[claim] === null);
    if (missing.length > 0) issues.push(`Missing required claims: ${missing.join(', ')}`);
    validations.requiredClaims = missing.length === 0 ? { valid: true } : { valid: false, missing };
  }
  const rules = Object.entries(claimValues);
  if (rules.length > 0) {
    const wrong = rules.filter(([claim, one]) => !matches(claims[claim], one)).map(([claim]) => claim);
    if (wrong.length > 0) issues.push(`Claims with other values: ${wrong.join(', ')}`);
    validations.claimValues = wrong.length === 0 ? { valid: true } : { valid: false, wrong };
  }
  if (headerPayloadMatch.length > 0) {
    const wrong = headerPayloadMatch.filter((claim) => {
      const expected = claims[claim];
      return expected === undefined || header(claim.toLowerCase()) !== String(expected);
    });
    if (wrong.length > 0) issues.push(`Headers that differ from the claims: ${wrong.join(', ')}`);
    validations.headerPayloadMatch = wrong.length === 0 ? { valid: true } : { valid: false, wrong };
  }
  return { issues, validations };
}

/** A claim that is a list, or a text of words such as `scope`, counts as its items. */
function matches(claim: unknown, { values: wanted, matchType }: ClaimRule): boolean {
  if (claim === undefined || claim === null) return false;
  const list: unknown[] = Array.isArray(claim) ? claim : [claim];
  const items = Array.isArray(claim) ? list : [claim, ...(typeof claim === 'string' ? claim.split(/[ ,]+/) : [])];
  switch (matchType) {
    case 'regex':
      return findsPattern(list, wanted as readonly string[]);
    case 'contains':
      return wanted.some((one) => items.includes(one));
    case 'containsAll':
      return wanted.every((one) => items.includes(one));
    default:
      return list.length === 1 && wanted.some((one) => one === list[0]);
  }
}

/** A token may have thousands of items, and to compile a pattern takes longer than to search one of them. */
function findsPattern(list: readonly unknown[], texts: readonly string[]): boolean {
  const patterns = texts.map((text) => RE2JS.compile(text));
  return list.some((item) => patterns.some((pattern) => pattern.matcher(String(item)).find()));
}
