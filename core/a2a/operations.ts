/** Operations of A2A, named as the methods of 1.0. */
export type AgentOperation =
  | 'SendMessage'
  | 'SendStreamingMessage'
  | 'GetTask'
  | 'ListTasks'
  | 'CancelTask'
  | 'SubscribeToTask'
  | 'CreateTaskPushNotificationConfig'
  | 'GetTaskPushNotificationConfig'
  | 'ListTaskPushNotificationConfigs'
  | 'DeleteTaskPushNotificationConfig'
  | 'GetExtendedAgentCard';

/** Methods of 0.3 with the operation of 1.0. Methods of 1.0 have the names of their operations. */
const methodsOf03: Readonly<Record<string, AgentOperation>> = {
  'message/send': 'SendMessage',
  'message/stream': 'SendStreamingMessage',
  'tasks/get': 'GetTask',
  'tasks/list': 'ListTasks',
  'tasks/cancel': 'CancelTask',
  'tasks/resubscribe': 'SubscribeToTask',
  'tasks/pushNotificationConfig/set': 'CreateTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/get': 'GetTaskPushNotificationConfig',
  'tasks/pushNotificationConfig/list': 'ListTaskPushNotificationConfigs',
  'tasks/pushNotificationConfig/delete': 'DeleteTaskPushNotificationConfig',
  'agent/getAuthenticatedExtendedCard': 'GetExtendedAgentCard',
};

const methods: ReadonlyMap<string, AgentOperation> = new Map([
  ...Object.entries(methodsOf03),
  ...Object.values(methodsOf03).map((operation) => [operation, operation] as const),
]);

/** Returns the operation of a JSON-RPC method of either version; null if it has none. */
export function operationOfMethod(method: string): AgentOperation | null {
  return methods.get(method) ?? null;
}

/** Paths of both versions. 0.3 puts `/v1` before them, 1.0 may put the tenant there. */
const paths: readonly (readonly [method: string, path: RegExp, operation: AgentOperation])[] = [
  path('POST', '/message:send', 'SendMessage'),
  path('POST', '/message:stream', 'SendStreamingMessage'),
  path('GET', '/tasks', 'ListTasks'),
  path('GET', '/tasks/{task}:subscribe', 'SubscribeToTask'),
  path('POST', '/tasks/{task}:subscribe', 'SubscribeToTask'),
  path('POST', '/tasks/{task}:cancel', 'CancelTask'),
  path('GET', '/tasks/{task}', 'GetTask'),
  path('POST', '/tasks/{task}/pushNotificationConfigs', 'CreateTaskPushNotificationConfig'),
  path('GET', '/tasks/{task}/pushNotificationConfigs', 'ListTaskPushNotificationConfigs'),
  path('GET', '/tasks/{task}/pushNotificationConfigs/{id}', 'GetTaskPushNotificationConfig'),
  path('DELETE', '/tasks/{task}/pushNotificationConfigs/{id}', 'DeleteTaskPushNotificationConfig'),
  path('GET', '/card', 'GetExtendedAgentCard'),
  path('GET', '/extendedAgentCard', 'GetExtendedAgentCard'),
];

export interface RestOperation {
  readonly operation: AgentOperation;
  readonly taskId: string | null;
}

/** Returns the operation of a REST path of either version; null if there is none. */
export function operationOfPath(method: string, rest: string): RestOperation | null {
  // An agent may decode these to separators, and would then see another path than this table.
  if (/%2f|%5c|\\/i.test(rest)) return null;
  for (const [expected, pattern, operation] of paths) {
    const found = method === expected ? pattern.exec(rest) : null;
    if (found) return { operation, taskId: found.groups?.task ?? null };
  }
  return null;
}

function path(method: string, template: string, operation: AgentOperation): readonly [string, RegExp, AgentOperation] {
  const segments = template.replace('{task}', '(?<task>[^/:]+)').replace('{id}', '[^/]+');
  return [method, new RegExp(`^(?:/[^/:]+)?${segments}$`), operation];
}
