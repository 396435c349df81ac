import type { RequestContext } from '../../core/contract/plugin/context.ts';
import type { Target } from '../../core/contract/plugin/plan.ts';
import { sentParams } from '../../core/contract/plugin/requests/sent-params.ts';
import type { ModelRates } from '../../core/contract/protocol/limits/leases.ts';
import { isObject, isText, type JsonObject, objectsIn } from '../../core/contract/values/json/json.ts';
import { isPromise, type Maybe } from '../../core/contract/values/maybe.ts';
import { roughImageUsage } from '../../core/contract/values/models/rough-image-usage.ts';
import { statedCount, type Usage } from '../../core/contract/values/models/usage.ts';

/** `imageTool`: price of a token of the images that the image tool of a Responses call draws. Absent if the call has no such tool. */
export type CallRates = ModelRates & { readonly imageTool?: number };

/** OpenAI's default: https://platform.openai.com/docs/api-reference/responses/create */
const defaultModel = 'gpt-image-1';
const modelCharsMax = 255;

/** Returns the model that draws for this target's call. Null: the call has no image tool. */
export function imageToolModel(ctx: RequestContext, target: Target): string | null {
  const [tool] = imageTools(ctx, [target]);
  if (!tool) return null;
  return isText(tool.model) && tool.model.length <= modelCharsMax ? tool.model : defaultModel;
}

/** Adds the price of the image tool to the prices of a call's model. A call without a price stays without one. */
export function withImageTool(rates: Maybe<ModelRates | null>, ofTool: Maybe<ModelRates | null>): Maybe<CallRates | null> {
  if (isPromise(rates) || isPromise(ofTool)) {
    return Promise.all([rates, ofTool]).then(([found, foundOfTool]) => added(found, foundOfTool));
  }
  return added(rates, ofTool);
}

function added(rates: ModelRates | null, ofTool: ModelRates | null): CallRates | null {
  return rates && ofTool ? { ...rates, imageTool: ofTool.imageOutput ?? ofTool.output } : rates;
}

/** Returns the price of the image that a call may draw. A quality that is not stated may be the highest. */
export function priceOfDrawing(ctx: RequestContext, { imageTool }: CallRates): number {
  if (!imageTool) return 0;
  return imageTool * Math.max(0, ...imageTools(ctx, ctx.plan.targets).map((tool) => roughImageUsage(tool).outputTokens));
}

/** Returns the price of the images that the tool has drawn. */
export function priceOfDrawn({ raw }: Usage, { imageTool }: CallRates): number {
  const tools = imageTool ? raw?.tool_usage : null;
  const drawn = isObject(tools) && isObject(tools.image_gen) ? statedCount(tools.image_gen.output_tokens) : 0;
  return drawn > 0 ? drawn * (imageTool ?? 0) : 0;
}

/** Returns the tools that may draw in a call of one of these targets. */
export function imageTools(ctx: RequestContext, targets: readonly Target[]): JsonObject[] {
  return sentParams(ctx, targets, ['tools']).flatMap(({ tools }) =>
    objectsIn(tools).filter(({ type }) => type === 'image_generation'),
  );
}
