import { guardrailEntries } from '../../../core/contract/plugin/guardrails/guardrail-config.ts';
import { isCredentialHeader } from '../../../core/contract/values/http/credential-headers.ts';
import { isObject, type JsonObject, parseObject } from '../../../core/contract/values/json/json.ts';

/**
 * Returns one line with its path for each secret among the guardrails of a config: credentials of partners, and headers of checks that carry
 * credentials. Configs are plain rows that every reader of the workspace sees.
 */
export function inlineSecrets(node: object, path = ''): string[] {
  const at = path === '' ? '' : `${path}.`;
  const lines: string[] = [];
  for (const list of Object.keys(guardrailEntries)) {
    for (const [index, entry] of listOf(node, list).entries()) {
      for (const { where, parameters } of checksOf(entry)) {
        for (const name of secretsOf(parameters)) {
          lines.push(
            `${at}${list}[${index}].${where}.${name}: secrets are not allowed in saved configs. Save the guardrail and name it here by its slug`,
          );
        }
      }
    }
  }
  for (const [index, target] of listOf(node, 'targets').entries()) {
    if (isObject(target)) lines.push(...inlineSecrets(target, `${at}targets[${index}]`));
  }
  return lines;
}

function listOf(node: object, key: string): readonly unknown[] {
  const value: unknown = (node as JsonObject)[key];
  return Array.isArray(value) ? value : [];
}

/** The checks of an entry in both forms, disabled ones included. */
function* checksOf(entry: unknown): Generator<{ where: string; parameters: JsonObject }> {
  if (!isObject(entry)) return;
  for (const [index, check] of listOf(entry, 'checks').entries()) {
    if (isObject(check) && isObject(check.parameters))
      yield { where: `checks[${index}].parameters`, parameters: check.parameters };
  }
  for (const [name, value] of Object.entries(entry)) if (isObject(value)) yield { where: name, parameters: value };
}

function* secretsOf({ credentials, headers }: JsonObject): Generator<string> {
  if (credentials !== undefined) yield 'credentials';
  const sent = typeof headers === 'string' ? parseObject(headers) : headers;
  if (!isObject(sent)) return;
  for (const name of Object.keys(sent)) if (isCredentialHeader(name.toLowerCase())) yield `headers.${name}`;
}
