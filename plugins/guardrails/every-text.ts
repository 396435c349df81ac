import { isWords } from '../../core/contract/values/bodies/encoded-file.ts';
import { isObject, type JsonObject } from '../../core/contract/values/json/json.ts';
import { readableContent } from '../../core/contract/values/models/agent-messages.ts';
import { depthMax, tooDeep } from './depth.ts';
import { dataUrlText, fileText, withType } from './encoded-texts.ts';
import { withoutEscapes } from './json-escapes.ts';
import { isOwnName, isSchema } from './schema-names.ts';

export type Path = readonly (string | number)[];

/** One text of a body and its location. */
export interface TextPart {
  readonly text: string;
  readonly path: Path;
  /** Set if this is no text value: the name of a member, whose path ends with it, or a number. */
  readonly kind?: 'name' | 'number';
  /** Returns another text as the value of a member that holds its text in an encoding. */
  readonly encoded?: (text: string) => string;
}

const namesAndIds = [
  ...['id', 'type', 'role', 'object', 'model', 'status', 'finish_reason', 'index', 'call_id', 'tool_call_id', 'tool_use_id'],
  ...['file_id', 'media_type'],
];
const addressesAndData = [
  ...['url', 'image_url', 'document_url', 'video_url', 'audio_url', 'file_url'],
  ...['image_base64', 'file_data', 'data', 'bytes', 'b64_json', 'embedding', 'signature', 'encrypted_content'],
];
/** Fields whose text is a name, an id, an address or data. */
export const notText: ReadonlySet<string> = new Set([...namesAndIds, ...addressesAndData]);

/** The beginning of an address, which may have spaces. Other words in its place are a text. */
const addressed = /^\s*[a-z][\w+.-]*:/i;

const names: ReadonlySet<string> = new Set(namesAndIds);
/** Templates of chats write any role into the prompt. */
const roles: ReadonlySet<string> = new Set([
  ...['system', 'developer', 'user', 'assistant', 'tool', 'function', 'model', 'chatbot', 'critic', 'discriminator', 'unknown'],
]);

function isName(key: string, text: string): boolean {
  if (!names.has(key)) return true;
  return key === 'role' ? roles.has(text.toLowerCase()) : isWord(text);
}

/** Returns true for a text without white space, as names and settings are. A server could add any other text to the prompt. */
export function isWord(text: string): boolean {
  return !/\s/.test(text);
}

/**
 * Adds every text of a value, in their order. `isData`: the value is any JSON, such as the input of a tool,
 * so that the names of its members and its numbers are read too. Throws Error for a value that is nested too deeply to be read.
 */
export function everyText(value: unknown, path: Path, parts: TextPart[], isData = false): void {
  if (path.length > depthMax) throw tooDeep();
  if (typeof value === 'string')
    parts.push(
      dataUrlText(value, path) ?? {
        text: argumentsKeys.has(path.at(-1) as string) ? withoutEscapes(value) : plainText(value),
        path,
      },
    );
  else if (isData && typeof value === 'number') parts.push({ text: String(value), path, kind: 'number' });
  else if (Array.isArray(value)) for (const [index, item] of value.entries()) everyText(item, [...path, index], parts, isData);
  else if (isObject(value)) {
    // The source of a document in plain text.
    if (value.type === 'text' && typeof value.data === 'string') parts.push({ text: value.data, path: [...path, 'data'] });
    const message = readableContent(value);
    if (message !== null) parts.push({ text: plainText(message), path: [...path, 'encrypted_content'] });
    const hasKeywords = !isData && isSchema(value);
    for (const [key, inner] of Object.entries(value)) {
      const item = withType(value, key, inner);
      const at = [...path, key];
      if (isData || (hasKeywords && isOwnName(key))) parts.push({ text: key, path: at, kind: 'name' });
      if (isData || holdsData(value, key)) everyText(item, at, parts, true);
      else if (typeof item !== 'string' || !notText.has(key)) {
        if (!isCredential(value, key)) memberTexts(key, item, at, parts);
      } else if (isName(key, item)) {
        const known = parts.length;
        fileText(value, key, path, parts);
        if (parts.length === known && !addressed.test(item) && isWords(item)) parts.push({ text: item, path: at });
      } else parts.push({ text: item, path: at });
    }
  }
}

/** Adds every text of a member that is no data. */
export function memberTexts(name: string, value: unknown, path: Path, parts: TextPart[]): void {
  if (!namedByCaller.has(name) || !isObject(value)) return everyText(value, path, parts);
  for (const [own, item] of Object.entries(value)) {
    const at = [...path, own];
    parts.push({ text: own, path: at, kind: 'name' });
    everyText(item, at, parts);
  }
}

/**
 * Members whose members have names of the caller's choice, also that of an id: schemas, whose names a model reads, variables of prompts, those of
 * the template of a chat, and the questions of decisions with the options among which a model chooses.
 */
export const namedByCaller: ReadonlySet<string> = new Set([
  ...['properties', 'patternProperties', 'dependentSchemas', 'dependentRequired', 'dependencies', '$defs', 'definitions'],
  ...['variables', 'promptVariables', 'chat_template_kwargs', 'questions', 'criteria'],
]);

/** True for members of an MCP server, of OpenAI or Anthropic, that models do not read. */
function isCredential({ type }: JsonObject, key: string): boolean {
  return (type === 'mcp' || type === 'url') && credentialsOfServers.has(key);
}

const credentialsOfServers: ReadonlySet<string> = new Set(['authorization', 'authorization_token', 'headers', 'server_url']);

/** JSON of arguments as a text, whole or in pieces. */
const argumentsKeys: ReadonlySet<unknown> = new Set(['arguments', 'partial_json']);

/**
 * Returns a text as checks read it: JSON, such as the result of a tool, without escapes of characters. Many programs write all characters outside ASCII
 * as escapes, and models read these.
 */
export function plainText(text: string): string {
  return startsJson.test(text) && hasEscapes.test(text) ? withoutEscapes(text) : text;
}

const hasEscapes = /\\[u/]/;
export const startsJson: RegExp = /^\s*[[{"]/;

/**
 * True for arguments and results of tools that are JSON: `input` in Messages and at Bedrock, `args` and `response` at Gemini, `json` of a result
 * at Bedrock, and `arguments` of servers that send them as an object. Also for values in a JSON Schema, examples of tools and environments of shells.
 */
function holdsData({ type, toolUseId, name }: JsonObject, key: string): boolean {
  if (key === 'input') return toolUseId !== undefined || (typeof type === 'string' && type.endsWith('tool_use'));
  if (key === 'args' || key === 'response') return typeof name === 'string';
  return dataMembers.has(key);
}

const dataMembers: ReadonlySet<string> = new Set([
  ...['json', 'arguments', 'enum', 'const', 'default', 'examples', 'input_examples', 'env'],
]);

/** Joins the texts that stand at the same place of several events, such as the deltas of a stream. */
export function deltaTexts(events: readonly JsonObject[]): string[] {
  const texts = new Map<string, string>();
  for (const event of events) {
    const parts: TextPart[] = [];
    everyText(event, [], parts);
    for (const { text, path } of parts) {
      const key = `${partOf(event)} ${placeOf(event, path)}`;
      texts.set(key, (texts.get(key) ?? '') + text);
    }
  }
  return [...texts.values()];
}

/**
 * Returns the path of a text with the `index` of items that have one, because an event holds some of the choices or calls only. The texts of all parts
 * of a candidate of Gemini continue each other, reasoning and others apart: an event may begin with a part of another kind.
 */
function placeOf(event: JsonObject, path: Path): string {
  let holder: unknown = event;
  const steps: (string | number)[] = [];
  for (const [depth, step] of path.entries()) {
    const item: unknown = (holder as Record<string | number, unknown>)[step];
    const isItem = Array.isArray(holder) && isObject(item);
    if (isItem && typeof item.index === 'number') steps.push(`#${item.index}`);
    else if (isItem && path[depth - 1] === 'parts' && path[depth + 1] === 'text')
      steps.push(item.thought === true ? 'thought' : 'text');
    else steps.push(step);
    holder = item;
  }
  return steps.join('.');
}

/** Names the part that an event of a stream belongs to, if it states one. */
export function partOf({ index, output_index, content_index }: JsonObject): string {
  return `${index ?? ''} ${output_index ?? ''} ${content_index ?? ''}`;
}
