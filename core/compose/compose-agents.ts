import type { Settings } from '../../config/settings.ts';
import { createToolGuard } from '../../plugins/guardrails/tool-guard.ts';
import { agentErrorReply } from '../a2a/agent-errors.ts';
import { agentSettings } from '../a2a/agent-settings.ts';
import { createAgentHandler } from '../a2a/serve-agent.ts';
import type { CoreServices } from '../contract/plugin/core-plugin.ts';
import { createOpenStreams } from '../json-rpc/open-streams.ts';
import { createToolGuardrails } from '../json-rpc/tool-guardrails.ts';
import type { ProtocolHandlers } from './endpoint-handlers.ts';
import { agentHeaderOpener, guardrailOpener } from './open-sealed.ts';
import type { OutboundParsers } from './outbound-parsers.ts';

/** The gateway for A2A agents of a process. */
export interface ComposedAgents extends ProtocolHandlers {
  /** Ends the streams of tasks, which clients subscribe to again. */
  endStreams(): void;
}

type AgentSettings = Pick<Settings, 'clusterKey' | 'publicUrl' | 'requestTimeoutMs' | 'connectTimeoutMs'>;

/** Puts the gateway for A2A agents together. */
export function composeAgents(
  settings: AgentSettings,
  { parseTokenUrl: parseUrl, checkCustomHost }: OutboundParsers,
  services: CoreServices,
): ComposedAgents {
  const openStreams = createOpenStreams();
  const handle = createAgentHandler({
    settingsOf: agentSettings({ openHeaders: agentHeaderOpener(settings.clusterKey), parseUrl }),
    parseUrl,
    checkUrl: checkCustomHost,
    publicUrl: settings.publicUrl,
    openStreams,
    // Defaults of workspaces are for tools. Agents have those that their integration names.
    guardrails: createToolGuardrails(
      createToolGuard(services),
      guardrailOpener(settings.clusterKey),
      services.documents,
      () => undefined,
    ),
    requestTimeoutMs: settings.requestTimeoutMs,
    connectTimeoutMs: settings.connectTimeoutMs,
  });
  return { handle, errorReply: agentErrorReply, endStreams: () => openStreams.close() };
}
