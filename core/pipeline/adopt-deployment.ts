import type { RequestContext } from '../contract/plugin/context.ts';
import { GatewayError } from '../contract/values/errors/errors.ts';
import { encodeSteps } from '../contract/values/large-json/encode-steps.ts';
import { encode } from './attempt/outgoing-body.ts';

/**
 * Makes a request of Azure's SDKs on a shaped route one of the route below `/v1`: removes `api-version` from its query, and replaces the model of
 * its body by the deployment of its path. The lines of a batch name their models themselves. Throws `bad_request` for a form that is streamed
 * and has no readable `model`.
 */
export async function adoptDeployment(ctx: RequestContext, deployment: string | null): Promise<void> {
  ctx.query = ctx.query
    .split('&')
    .filter((pair) => !/^api-version(?:=|$)/i.test(pair))
    .join('&');
  if (deployment === null || ctx.endpoint?.hasModelsInFile) return;
  const { params, streamedForm } = ctx;
  if (params === null || params.model === deployment) return;
  if (streamedForm !== null && ctx.model === null) {
    throw new GatewayError('bad_request', {
      message:
        'model: a form over FORM_BUFFER_MAX is streamed. Send one field "model" before the file, so that it can be set to the deployment',
      param: 'model',
    });
  }
  ctx.setParams({ ...params, model: deployment });
  if (streamedForm !== null) return;
  if (ctx.form !== null) {
    const others = ctx.form.filter(({ name }) => name !== 'model' && name !== 'model[]');
    ctx.form = [{ name: 'model', filename: null, contentType: null, body: Buffer.from(deployment) }, ...others];
    ctx.bodyChanged = true;
    return;
  }
  ctx.bodyLayout = null;
  // The body as if the client had sent it: caches and logs read it.
  const sent = ctx.params as typeof params;
  const lengthHint = ctx.requestBytes + deployment.length;
  if (ctx.needsSteps) {
    ctx.body = await ctx.writeInTurns(() => encodeSteps(sent, lengthHint), lengthHint);
    return;
  }
  ctx.body = encode(sent);
  ctx.holdBytes(ctx.body.length);
}
