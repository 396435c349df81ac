/** Returns the base of a fine-tuned model of Azure in the public price list. */
export function azurePriceName(model: string): string {
  return model.replace(/\.ft.*/s, '');
}

/**
 * Returns a model of Vertex AI without the parts that its name may begin with: project and location, and the publisher before a dot, before a
 * slash or as a folder.
 */
export function vertexPriceName(model: string): string {
  const local = model.replace(/^projects\/[^/]+\/locations\/[^/]+\//, '');
  const publisher = /^(?:publishers\/[^/]+\/models\/|(?:google|anthropic|meta|mistralai|mistral)\.|[^/]+\/)/;
  return geminiPriceName(local.replace(publisher, ''));
}

/** Returns a model of OpenRouter without the ending that chooses among its hosts or adds a tool. Free variants have no price of their model. */
export function openRouterPriceName(model: string): string {
  return model.replace(/:(?!free$)[^:/]*$/, '');
}

/** Returns a Gemini model without its folder and without its context size. */
export function geminiPriceName(model: string): string {
  return model.replace(/^models\/|-(?:gt|lte)-128k$/g, '');
}

/**
 * True for Azure's model router under its own name, which is the default name of its deployments. Its reply states the model that it chose:
 * https://learn.microsoft.com/azure/ai-foundry/openai/how-to/model-router
 */
export function isModelRouter(model: string): boolean {
  return /^model-router/i.test(model);
}
