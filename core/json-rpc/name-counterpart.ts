import type { GatewayError } from '../contract/values/errors/errors.ts';

/** Names a server or an agent instead of a provider in errors of the transport. `setting` is the default of its timeout. */
export function nameCounterpart(error: GatewayError, name: string, setting: string): GatewayError {
  if (error.code === 'request_timeout') {
    if (error.waitedMs === null) return error;
    const remedy = `request_timeout in the configurations of its integration, or ${setting}, sets this time`;
    return error.renamed(`The ${name} sent nothing for ${error.waitedMs} ms. ${remedy}`, error.param);
  }
  if (error.message.startsWith('The upstream ')) {
    return error.renamed(error.message.replace('upstream', name), error.param);
  }
  const isOfTransport = error.code.startsWith('upstream_') && error.message.includes('provider');
  return isOfTransport ? error.renamed(error.message.replace('provider', name), error.param) : error;
}
