import type { ToolSide } from '../../core/contract/plugin/guardrails/tool-guard.ts';
import { metaOfProtocol } from '../../core/contract/protocol/mcp/mcp-meta.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { depthMax, tooDeep } from './depth.ts';
import { fileText } from './encoded-texts.ts';
import { namedByCaller, plainText, type TextPart } from './every-text.ts';

/**
 * Returns every text of the arguments or the result of a tool, in their order. Empty texts are left out, and so is the data of images,
 * audio and files in the content of a result, except files in text. Names of members and numbers are read where they are data (`readingOf`).
 * Throws Error for values that cannot be checked: those nested too deeply, and members with the name of the prototype.
 */
export function toolTexts(body: JsonObject, side: ToolSide): TextPart[] {
  const parts: TextPart[] = [];
  if (side === 'output') collect(body, [], parts, 'words');
  else
    for (const key of ['arguments', 'inputResponses', 'others']) collect(body[key], [key], parts, readingOf(key, body, 'words'));
  if (side === 'input' && Array.isArray(body.repeated)) addRepeated(body.repeated, parts);
  return parts;
}

/** Arguments that headers repeat. Like numbers, they are no further text for checks that demand a form. */
function addRepeated(values: readonly unknown[], parts: TextPart[]): void {
  for (const [index, value] of values.entries()) {
    if (typeof value === 'string' && value !== '') parts.push({ text: value, path: ['repeated', index], kind: 'number' });
  }
}

/** `words`: only texts are read. `data`: numbers and names too. `metadata`: data with members that the protocol defines. */
type Reading = 'words' | 'data' | 'metadata';

/** `path` is the path of the value. It is changed during the call, and copied for each part. */
function collect(value: unknown, path: (string | number)[], parts: TextPart[], reading: Reading): void {
  const isData = reading !== 'words';
  if (typeof value === 'number' && isData) parts.push({ text: String(value), path: [...path], kind: 'number' });
  if (typeof value === 'string') {
    if (value !== '') parts.push({ text: plainText(value), path: [...path] });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (path.length > depthMax) throw tooDeep();
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) collectMember(value[index], index, path, parts, isData ? 'data' : 'words');
    return;
  }
  const members = value as JsonObject;
  // Schemas of questions: clients show the names of a form, and models read those of tools.
  const isNamed = namedByCaller.has(path.at(-1) as string);
  const data = !isData && contents.has(kindOf(path)) ? dataOf(members) : null;
  for (const key of Object.keys(members)) {
    if (key === '__proto__') throw new Error('The body has a member named __proto__');
    if (key === data) {
      if (!media.test(String(members.mimeType))) fileText(members, key, [...path], parts);
      continue;
    }
    const isOfProtocol = reading === 'metadata' ? metaOfProtocol.test(key) : path[0] === 'others' && isParam(path, key);
    if ((isData || isNamed) && !isOfProtocol) parts.push({ text: key, path: [...path, key], kind: 'name' });
    const isTask = isOfProtocol && key === 'task';
    collectMember(members[key], key, path, parts, isTask ? 'data' : readingOf(key, members, isOfProtocol ? 'words' : reading));
  }
}

function collectMember(
  value: unknown,
  key: string | number,
  path: (string | number)[],
  parts: TextPart[],
  reading: Reading,
): void {
  path.push(key);
  collect(value, path, parts, reading);
  path.pop();
}

/** Members whose content applications define: what models send and tools return, `data` of errors and logs, and calls of tools in samplings. */
const dataMembers: ReadonlySet<string> = new Set(['arguments', 'structuredContent', 'others', 'data', 'input']);

/** Returns how a member is read. All members of data are data. The reply to an elicitation is a form that its server defines. */
function readingOf(key: string, holder: JsonObject, reading: Reading): Reading {
  if (reading !== 'words') return 'data';
  if (key === '_meta') return 'metadata';
  const isForm = key === 'content' && typeof holder.action === 'string' && !Array.isArray(holder.content);
  return isForm || dataMembers.has(key) ? 'data' : 'words';
}

/** True for parameters beside the arguments that the protocol defines, and for the one member of a task. */
function isParam([, first, second]: readonly (string | number)[], key: string): boolean {
  if (first === undefined) return key === 'task' || key === '_meta';
  return first === 'task' && second === undefined && key === 'ttl';
}

/** The member that a value belongs to. Of a task, the result of the tool is a member. */
function kindOf([first, second]: TextPart['path']): string | number | undefined {
  return first === 'result' ? second : first;
}

/** Members of results with blocks of content: those of tools and of resources. */
const contents: ReadonlySet<unknown> = new Set(['content', 'contents']);

/** Types whose bytes are no text, even if they could be one. */
const media = /^(?:image|audio|video)\//i;

/** Name of the member of a content block that holds encoded bytes; null if there is none. */
function dataOf({ type, uri, mimeType }: JsonObject): string | null {
  if (type === 'image' || type === 'audio') return 'data';
  return typeof uri === 'string' && typeof mimeType === 'string' ? 'blob' : null;
}
