import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import type { ClientMessage } from '../json-rpc/messages.ts';
import type { ToolChecks } from '../json-rpc/tool-guardrails.ts';

/** True for methods of tasks: the result of a call that became a task is read with them, and its questions are replied to. */
export function isOfTask(method: string | null): boolean {
  return method?.startsWith('tasks/') ?? false;
}

/**
 * Runs the input guardrails on replies to the questions of a task and on all other parameters, except the id of the task and the place in a list: texts
 * without white space.
 * Throws RpcError -32446.
 */
export async function checkedTask(checks: ToolChecks, message: ClientMessage): Promise<ClientMessage> {
  const isId = ([name, value]: [string, unknown]) => (name === 'taskId' || name === 'cursor') && isPlace(value);
  const params = Object.fromEntries(Object.entries(message.params).filter((one) => !isId(one)));
  const checked = await checks.checkReplies({ ...message, params });
  if (checked.params === params) return message;
  return { ...message, params: { ...checked.params, ...Object.fromEntries(Object.entries(message.params).filter(isId)) } };
}

/** True for an id or a place in a list as servers make them. */
export function isPlace(value: unknown): boolean {
  return typeof value === 'string' && !/\s/.test(value);
}

/** True if the result of a method of tasks holds the result of a tool. */
export function hasToolResult(method: string | null, result: unknown): boolean {
  return method === 'tasks/result' || (method === 'tasks/get' && isObject(result) && result.result !== undefined);
}

/** True for a notice of a server that holds the result of a tool. A client reads it with `tasks/get` too. */
export function isToolResultNotice({ method, params }: JsonObject): boolean {
  return (
    typeof method === 'string' && method.startsWith('notifications/tasks') && isObject(params) && params.result !== undefined
  );
}
