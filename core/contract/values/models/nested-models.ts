import { isObject, type JsonObject } from '../json/json.ts';

/**
 * Names of fields that name models: `model` of a tool, `analysis_models`, `modelName`, `deployment_name`. Providers add such fields often, so
 * the rule is one of names and not a list of fields.
 */
const namesModels = /(?:models?(?:[_-]?(?:id|name|arn)s?)?|fallbacks?|deployment(?:[_-]?(?:id|name))?)$/i;

/** Returns true if a field of a form names models, such as `models[]` or `session[model]`. */
export function isModelField(name: string): boolean {
  return namesModels.test(name.replace(/\[\d{0,9}\]$/, '').replace(/\]$/, ''));
}

/** Fields with texts and data of the caller, and literals of JSON Schema. A `model` in them is no model of the provider. */
const contents: ReadonlySet<string> = new Set([
  ...[
    'messages',
    'message',
    'chat_history',
    'input',
    'inputs',
    'content',
    'contents',
    'instances',
    'documents',
    'texts',
    'query',
  ],
  ...['system', 'systemInstruction', 'system_instruction', 'instructions', 'prompt', 'variables', 'metadata', 'labels'],
  ...['arguments', 'tool_results', 'default', 'const', 'enum', 'examples'],
]);

/**
 * Fields inside contents that define further tools (`additional_tools` of Responses, `tool_addition` of Messages), and the transcription of
 * realtime sessions (`audio.input.transcription`).
 */
const definitions: ReadonlySet<string> = new Set(['tool', 'tools', 'tool_changes', 'transcription']);

/** Objects whose keys are names of the caller. A grader may be called `input`. */
const namedByCaller: ReadonlySet<string> = new Set(['graders']);

/** Returns the models that a body names, at any depth. */
export function modelsIn(body: JsonObject): string[] {
  const models: string[] = [];
  nestedModels('', body, models);
  return models;
}

/** Adds the models that a field of a request names, at any depth. */
export function nestedModels(name: string, value: unknown, into: string[]): void {
  if (typeof value === 'string') {
    if (value !== '' && isModelField(name)) into.push(value);
  } else if (contents.has(name)) inContents(value, into);
  else if (Array.isArray(value)) for (const item of value) nestedModels(name, item, into);
  else if (isObject(value)) for (const key in value) nestedModels(namedByCaller.has(name) ? '' : key, value[key], into);
}

function inContents(value: unknown, into: string[]): void {
  if (Array.isArray(value)) for (const item of value) inContents(item, into);
  else if (isObject(value)) {
    for (const key in value) {
      if (definitions.has(key)) nestedModels(key, value[key], into);
      else if (key === 'content') inContents(value[key], into);
    }
  }
}
