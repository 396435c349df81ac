/** Returns the base of a fine-tuned model of Azure in the public price list. */
export function azurePriceName(model: string): string {
  return model.replace(/\.ft.*/s, '');
}

/** Returns a Gemini model without its folder and without its context size. */
export function geminiPriceName(model: string): string {
  return model.replace(/^models\/|-(?:gt|lte)-128k$/g, '');
}
