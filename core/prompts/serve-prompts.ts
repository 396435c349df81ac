import type { Identity, RequestContext } from '../contract/plugin/context.ts';
import type { Reply } from '../contract/plugin/plugin.ts';
import type { PipelineOptions } from '../pipeline/run.ts';
import { referenceOf, servicesOf } from './adopt-prompt.ts';
import { collectPartials } from './collect-partials.ts';
import type { TemplatePartial } from './compile-template.ts';
import { openPrompt, promptInput, renderPrompt } from './render-prompt.ts';
import type { Template } from './template.ts';
import { variablesOf } from './template-variables.ts';

/** Serves `POST /prompts/{id}/render`: returns the body that a completion would send, and calls no model. */
export async function replyRendered(options: PipelineOptions, ctx: RequestContext): Promise<Reply> {
  const services = servicesOf(options);
  const caller = ctx.identity as Identity;
  const found = await openPrompt(services, caller, referenceOf(ctx));
  const { params } = await renderPrompt(services, caller, found, promptInput(ctx));
  return json({ success: true, data: params });
}

/**
 * Serves `GET /prompts/{id}/variables`: returns the variables of a version and of the partials that it names. The partials that
 * variables choose are not part of it.
 */
export async function listPromptVariables(options: PipelineOptions, ctx: RequestContext): Promise<Reply> {
  const services = servicesOf(options);
  const caller = ctx.identity as Identity;
  const found = await openPrompt(services, caller, referenceOf(ctx));
  const { all } = await collectPartials(services.documents, found.template, { prompt: found.document, caller }, null);
  const data = variablesIn([found.template, ...all]);
  return json({
    object: 'list',
    total: data.length,
    prompt_id: found.document.id,
    prompt_version: found.number,
    prompt_version_id: found.version.id,
    data,
  });
}

function variablesIn(texts: readonly (Template | TemplatePartial)[]): object[] {
  const unique = new Map(texts.flatMap(variablesOf).map((variable) => [JSON.stringify(variable), variable]));
  return [...unique.values()];
}

function json(body: object): Reply {
  return { status: 200, headers: ['content-type', 'application/json'], body: JSON.stringify(body) };
}
