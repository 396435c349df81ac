import { isObject, type JsonObject } from '../contract/values/json/json.ts';
import type { AgentOperation } from './operations.ts';

/** Members that hold a push notification config in either version, in the JSON and the field names of the protocol buffers. */
const members: readonly string[] = [
  'pushNotificationConfig',
  'push_notification_config',
  'taskPushNotificationConfig',
  'task_push_notification_config',
  'config',
  'configuration',
];

export interface PushTarget {
  /** JSON path in the parameters. */
  readonly path: string;
  /** As the client sent it. An agent may convert values of other types to text. */
  readonly url: unknown;
}

/**
 * Returns the URLs that the agent would send notifications to. The agent calls them, not the gateway: an address inside the agent's
 * network must be refused here.
 */
export function pushTargets(operation: AgentOperation, params: JsonObject): PushTarget[] {
  const isConfig = operation === 'CreateTaskPushNotificationConfig';
  const isMessage = operation === 'SendMessage' || operation === 'SendStreamingMessage';
  return isConfig || isMessage ? targetsIn(params, '', isConfig, 0) : [];
}

function targetsIn(value: JsonObject, path: string, isConfig: boolean, depth: number): PushTarget[] {
  const targets: PushTarget[] = isConfig && value.url != null ? [{ path: `${path}url`, url: value.url }] : [];
  if (depth === 3) return targets;
  for (const name of members) {
    const inner = value[name];
    if (isObject(inner)) targets.push(...targetsIn(inner, `${path}${name}.`, isConfig || name !== 'configuration', depth + 1));
  }
  return targets;
}
