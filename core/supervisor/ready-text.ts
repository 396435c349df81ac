import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { FirstStartMessage } from '../contract/process-messages.ts';

/** What the terminal shows when everything is up: the base URL, and on the first start the keys and a call that works at once. */
export function readyText(settings: Settings, first: FirstStartMessage | null): string {
  if (settings.role === 'control-plane')
    return `control plane ready on ${origin('http', settings.host, settings.controlPlanePort)}\n`;
  const base = `${origin(settings.tlsCert ? 'https' : 'http', settings.host, settings.port)}/v1`;
  if (first === null) return `gateway ready on ${base}\n`;
  // Keys that came from the environment are known to whoever set them and stay out of container logs.
  const adminKey = settings.bootstrapAdminKey ? 'as given in BOOTSTRAP_ADMIN_KEY' : first.admin_key;
  const workspaceKey = settings.bootstrapWorkspaceKey ? 'as given in BOOTSTRAP_WORKSPACE_KEY' : first.workspace_key;
  const callKey = settings.bootstrapWorkspaceKey ? '$BOOTSTRAP_WORKSPACE_KEY' : first.workspace_key;
  const quote = settings.bootstrapWorkspaceKey ? '"' : "'";
  return [
    `gateway ready on ${base}`,
    '',
    `  admin key       ${adminKey}`,
    `  workspace key   ${workspaceKey}`,
    '',
    `The keys are shown this once; ${join(settings.dataDir, 'first-keys.json')} keeps them, readable by you alone.`,
    'A first call, which needs no provider account:',
    '',
    `  curl ${base}/chat/completions -H ${quote}${settings.headerPrefix}api-key: ${callKey}${quote} -H 'content-type: application/json' -d '{"model":"@mock/echo","messages":[{"role":"user","content":"hello"}]}'`,
    '',
    '',
  ].join('\n');
}

/** The address to type on this machine: a listener on all addresses is reached through loopback. */
function origin(scheme: string, host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${scheme}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
