import { join } from 'node:path';
import type { Settings } from '../../config/settings.ts';
import type { FirstStartMessage } from '../contract/protocol/processes/process-messages.ts';

/**
 * Returns the text that the service prints when everything is ready: the base URL, and on the first start the location of the
 * keys and an example call. The keys themselves are printed on a terminal only, because log stores would store them.
 */
export function readyText(settings: Settings, first: FirstStartMessage | null, isTerminal: boolean): string {
  const base = `${origin(settings.tlsCert ? 'https' : 'http', settings.host, settings.port)}/v1`;
  const ready =
    settings.role === 'control-plane'
      ? `control plane ready on ${origin('http', settings.controlPlaneHost, settings.controlPlanePort)}\n`
      : `gateway ready on ${base}\nAPI documentation: ${base}/docs\n`;
  if (first === null) return ready;
  const keys = isTerminal ? keysText(settings, first) : addressText(settings);
  return `${ready}${keys}${settings.role === 'all' ? callText(settings, base, isTerminal ? first : null) : ''}\n`;
}

/** Keys from the environment are already known to the operator. */
function keysText(settings: Settings, first: FirstStartMessage): string {
  return [
    '',
    `  admin key       ${settings.bootstrapAdminKey ? 'the value of BOOTSTRAP_ADMIN_KEY' : first.admin_key}`,
    `  workspace key   ${settings.bootstrapWorkspaceKey ? 'the value of BOOTSTRAP_WORKSPACE_KEY' : first.workspace_key}`,
    ...(first.owner_link ? [`  first owner     ${first.owner_link}`] : []),
    '',
    `The keys are shown once. They are stored in ${keysFile(settings)}, readable only by you.`,
    '',
  ].join('\n');
}

function addressText(settings: Settings): string {
  return `\nThe first keys are in ${keysFile(settings)}, readable only by you.\n`;
}

/** `first` null: the call reads the key from its file. */
function callText(settings: Settings, base: string, first: FirstStartMessage | null): string {
  const name = `${settings.headerPrefix}api-key`;
  const fromFile = `"${name}: $(node -p "require('${keysFile(settings)}').workspace_key")"`;
  const shown = first === null ? fromFile : `'${name}: ${first.workspace_key}'`;
  const header = settings.bootstrapWorkspaceKey ? `"${name}: $BOOTSTRAP_WORKSPACE_KEY"` : shown;
  const body = '{"model":"@mock/echo","messages":[{"role":"user","content":"hello"}]}';
  return [
    'A first call, which needs no provider account:',
    '',
    `  curl ${base}/chat/completions -H ${header} -H 'content-type: application/json' -d '${body}'`,
    '',
  ].join('\n');
}

function keysFile(settings: Settings): string {
  return join(settings.dataDir, 'first-keys.json');
}

/** The address for use on this machine. A listener on all addresses is reached through loopback. */
function origin(scheme: string, host: string, port: number): string {
  const reached = host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host;
  return `${scheme}://${reached.includes(':') ? `[${reached}]` : reached}:${port}`;
}
