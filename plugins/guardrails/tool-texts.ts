import type { ToolSide } from '../../core/contract/plugin/guardrails/tool-guard.ts';
import type { JsonObject } from '../../core/contract/values/json/json.ts';
import { depthMax, tooDeep } from './depth.ts';
import { fileText } from './encoded-texts.ts';
import { plainText, type TextPart } from './every-text.ts';

/**
 * Returns every text of the arguments or the result of a tool, in their order. Empty texts are left out, and so is the data of images,
 * audio and files in the content of a result, except files in text. Names of members and numbers are read where they are data: in arguments and in structured
 * content. Throws Error for values that cannot be checked: those nested too deeply, and members with the name of the prototype.
 */
export function toolTexts(body: JsonObject, side: ToolSide): TextPart[] {
  const parts: TextPart[] = [];
  if (side === 'output') collect(body, [], parts);
  else for (const key of ['arguments', 'inputResponses', 'others']) collect(body[key], [key], parts);
  return parts;
}

/** `path` is the path of the value. It is changed during the call, and copied for each part. */
function collect(value: unknown, path: (string | number)[], parts: TextPart[]): void {
  if (typeof value === 'number' && isData(path)) parts.push({ text: String(value), path: [...path], kind: 'number' });
  if (typeof value === 'string') {
    if (value !== '') parts.push({ text: plainText(value), path: [...path] });
    return;
  }
  if (typeof value !== 'object' || value === null) return;
  if (path.length > depthMax) throw tooDeep();
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) collectMember(value[index], index, path, parts);
    return;
  }
  const members = value as JsonObject;
  const data = contents.has(kindOf(path)) ? dataOf(members) : null;
  const hasNames = isData(path);
  for (const key of Object.keys(members)) {
    if (key === '__proto__') throw new Error('The body has a member named __proto__');
    if (key === data) {
      if (!media.test(String(members.mimeType))) fileText(members, key, [...path], parts);
      continue;
    }
    if (hasNames) parts.push({ text: key, path: [...path, key], kind: 'name' });
    collectMember(members[key], key, path, parts);
  }
}

function collectMember(value: unknown, key: string | number, path: (string | number)[], parts: TextPart[]): void {
  path.push(key);
  collect(value, path, parts);
  path.pop();
}

/** Arguments are sent by the model. Members of structured content are named by the tool. */
function isData(path: TextPart['path']): boolean {
  const kind = kindOf(path);
  return kind === 'arguments' || kind === 'structuredContent';
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
