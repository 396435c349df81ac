import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { FirstStartMessage } from '../contract/process-messages.ts';

/** What the terminal shows when everything is up: the base URL, and on the first start the keys and a call that works at once. */
export function readyText(settings: Settings, first: FirstStartMessage | null): string {
  const base = `${origin(settings.tlsCert ? 'https' : 'http', settings.host, settings.port)}/v1`;
  const ready =
    settings.role === 'control-plane'
      ? `control plane ready on ${origin('http', settings.controlPlaneHost, settings.controlPlanePort)}\n`
      : `gateway ready on ${base}\nAPI documentation: ${base}/docs\n`;
  if (first === null) return ready;
  return `${ready}${keysText(settings, first)}${settings.role === 'all' ? callText(settings, base, first) : ''}\n`;
}

/** Keys that came from the environment are known to whoever set them, and stay out of container logs. */
function keysText(settings: Settings, first: FirstStartMessage): string {
  return [
    '',
    `  admin key       ${settings.bootstrapAdminKey ? 'as given in BOOTSTRAP_ADMIN_KEY' : first.admin_key}`,
    `  workspace key   ${settings.bootstrapWorkspaceKey ? 'as given in BOOTSTRAP_WORKSPACE_KEY' : first.workspace_key}`,
    ...(first.owner_link ? [`  first owner     ${first.owner_link}`] : []),
    '',
    `The keys are shown this once; ${join(settings.dataDir, 'first-keys.json')} keeps them, readable by you alone.`,
    '',
  ].join('\n');
}

function callText(settings: Settings, base: string, first: FirstStartMessage): string {
  const name = `${settings.headerPrefix}api-key`;
  const header = settings.bootstrapWorkspaceKey ? `"${name}: $BOOTSTRAP_WORKSPACE_KEY"` : `'${name}: ${first.workspace_key}'`;
  const body = '{"model":"@mock/echo","messages":[{"role":"user","content":"hello"}]}';
  return [
    'A first call, which needs no provider account:',
    '',
    `  curl ${base}/chat/completions -H ${header} -H 'content-type: application/json' -d '${body}'`,
    '',
  ].join('\n');
}

/** The address to type on this machine: a listener on all addresses is reached through loopback. */
function origin(scheme: string, host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${scheme}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
