import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { type AgentCard, type Message, type Part, Role, TaskState } from '@a2a-js/sdk';
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  InMemoryPushNotificationStore,
  InMemoryTaskStore,
} from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, restHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import { newGate } from '../gate.ts';

// The package has no types of its own.
const express = createRequire(import.meta.url)('express');

/** An agent of the official SDK that speaks 1.0 and 0.3 over JSON-RPC and REST, with the requests that it received. */
export interface A2aAgent {
  /** Address of JSON-RPC. */
  readonly url: string;
  readonly origin: string;
  readonly card: AgentCard;
  /** Every request in the order of arrival. */
  readonly received: { method: string; path: string; headers: IncomingHttpHeaders }[];
  /** Replies to the next requests instead of the agent, as long as it is set. */
  override: ((request: IncomingMessage, response: ServerResponse) => void) | null;
  /** Lets tasks of the message `wait` continue. */
  release(): void;
  close(): Promise<void>;
}

/**
 * Messages: `task …` makes a task with an artifact, `wait` a task that waits for `release`. Anything else is repeated in a message.
 */
export async function startA2aAgent(): Promise<A2aAgent> {
  const received: A2aAgent['received'] = [];
  const app = express();
  const http = createServer((request, response) => {
    received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers });
    if (agent.override) agent.override(request, response);
    else app(request, response);
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
  const card = cardAt(origin);
  const gate = newGate();
  const executor = executorWith(() => gate.opened);
  const requestHandler = new DefaultRequestHandler(
    ...([card, new InMemoryTaskStore(), executor, undefined, new InMemoryPushNotificationStore(), undefined, card] as const),
  );
  const options = { requestHandler, userBuilder: UserBuilder.noAuthentication, legacyCompat: { enabled: true } };
  app.use(
    '/.well-known/agent-card.json',
    agentCardHandler({ agentCardProvider: requestHandler, legacyCompat: { enabled: true } }),
  );
  app.use('/rpc', jsonRpcHandler(options));
  app.use('/rest', restHandler(options));
  const agent: A2aAgent = {
    ...{ url: `${origin}/rpc`, origin, card, received, override: null },
    release: () => gate.open(),
    async close() {
      gate.open();
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return agent;
}

function cardAt(origin: string): AgentCard {
  const interfaceOf = (protocolBinding: string, path: string, protocolVersion: string) => ({
    ...{ url: `${origin}${path}`, protocolBinding, protocolVersion, tenant: '' },
  });
  const skill = (id: string) => ({
    ...{ id, name: id, description: `Does ${id}`, tags: ['test'], examples: [], inputModes: [], outputModes: [] },
    securityRequirements: [],
  });
  return {
    ...{ name: 'Sample agent', description: 'Repeats what it is told', version: '1.2.3', provider: undefined },
    supportedInterfaces: [
      interfaceOf('JSONRPC', '/rpc', '1.0'),
      interfaceOf('HTTP+JSON', '/rest', '1.0'),
      interfaceOf('JSONRPC', '/rpc', '0.3'),
      interfaceOf('HTTP+JSON', '/rest', '0.3'),
      interfaceOf('GRPC', '', '1.0'),
    ],
    capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [] },
    ...{ securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
    skills: [skill('repeat'), skill('secret')],
    signatures: [{ protected: 'e30', signature: 'c2ln', header: undefined }],
  };
}

const text = (value: string): Part => ({
  ...{ content: { $case: 'text', value }, metadata: undefined, filename: '', mediaType: '' },
});

function messageOf(said: string, taskId: string, contextId: string): Message {
  return {
    ...{ messageId: `reply-${taskId}`, contextId, taskId, role: Role.ROLE_AGENT, parts: [text(said)] },
    ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  };
}

function executorWith(waiting: () => Promise<void>): AgentExecutor {
  return {
    async execute({ userMessage, taskId, contextId }, bus) {
      const [part] = userMessage.parts;
      const said = part?.content?.$case === 'text' ? part.content.value : '';
      if (!/^(task|wait|split)/.test(said)) {
        bus.publish(AgentEvent.message(messageOf(said, '', contextId)));
        bus.finished();
        return;
      }
      const status = (state: TaskState) => ({ state, message: undefined, timestamp: new Date(0).toISOString() });
      const update = (state: TaskState) =>
        bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state), metadata: undefined }));
      const submitted = status(TaskState.TASK_STATE_SUBMITTED);
      bus.publish(AgentEvent.task({ id: taskId, contextId, status: submitted, artifacts: [], history: [], metadata: undefined }));
      update(TaskState.TASK_STATE_WORKING);
      if (said === 'wait') await waiting();
      const pieces = said.startsWith('split') ? said.split(' ').slice(1) : [said];
      for (const [index, piece] of pieces.entries()) {
        const artifact = {
          artifactId: 'a',
          name: 'a',
          description: '',
          parts: [text(piece)],
          metadata: undefined,
          extensions: [],
        };
        const whole = { append: index > 0, lastChunk: index === pieces.length - 1, metadata: undefined };
        bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, ...whole }));
      }
      update(TaskState.TASK_STATE_COMPLETED);
      bus.finished();
    },
    async cancelTask(taskId, bus) {
      const status = { state: TaskState.TASK_STATE_CANCELED, message: undefined, timestamp: new Date(0).toISOString() };
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId: '', status, metadata: undefined }));
      bus.finished();
    },
  };
}
