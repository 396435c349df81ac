import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import { otherSpelling } from '../json-rpc/spellings.ts';

/** Members that the gateway checks, in the names of both versions and of the protocol buffers. */
const otherMember = otherSpelling([
  ...['jsonrpc', 'id', 'method', 'params', 'result', 'error', 'message', 'details', 'data', 'metadata'],
  ...['parts', 'content', 'text', 'task', 'msg', 'history', 'artifacts', 'artifact', 'status', 'statusUpdate', 'artifactUpdate'],
  ...['status_update', 'artifact_update', 'configuration', 'config', 'url', 'pushNotificationConfig', 'push_notification_config'],
  ...['taskPushNotificationConfig', 'task_push_notification_config'],
]);

/** Members with free content, whose names are defined by applications. */
const free: ReadonlySet<string> = new Set(['data', 'metadata']);

/** Deeper values have no members that A2A defines. */
const depthMax = 16;

/** Returns a sentence about a key that is another spelling of a member that the gateway checks; null if there is none. */
export function spellingIssue(value: unknown, path = '', depth = 0): string | null {
  if (depth > depthMax || typeof value !== 'object' || value === null) return null;
  const found = isObject(value) ? otherMember(value) : null;
  if (found !== null) {
    return `${path}${found.sent}: another spelling of ${found.name}. Send ${found.name}, as the agent may read both`;
  }
  for (const [key, inner] of Object.entries(value as JsonObject)) {
    const issue = free.has(key) && !Array.isArray(value) ? null : spellingIssue(inner, `${path}${key}.`, depth + 1);
    if (issue !== null) return issue;
  }
  return null;
}
