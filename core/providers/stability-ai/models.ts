import type { OperationCall } from '../../contract/provider/provider.ts';
import { percentDecoded } from '../../contract/values/text/percent-decoded.ts';

/** True for engines of version 1, which use JSON. All later models use forms. */
export function isEngine(model: string): boolean {
  return /^stable-diffusion-(xl|v1|v2|512|768)/.test(model);
}

/** Stable Diffusion 3 and 3.5 share one path; a field of the request distinguishes them. */
export function isDiffusion3(model: string): boolean {
  return pathOfGeneration(model) === 'sd3';
}

/**
 * Returns the path of a generation. `core`, `ultra` and engines have paths of their own. All other models are versions of Stable
 * Diffusion 3.
 */
export function generationPath({ model }: OperationCall): string {
  if (isEngine(model)) return `/v1/generation/${encodeURIComponent(model)}/text-to-image`;
  return `/v2beta/stable-image/generate/${pathOfGeneration(model)}`;
}

/** Returns the engine, generation or tool of a pass-through path. Null for `sd3`, whose models share one path. */
export function modelInPath(path: string): string | null {
  const [, engine, name] = /\/generation\/+([^/]+)|\/v2beta\/(?:.*\/)?([^/]+)\/*$/.exec(path) ?? [];
  const found = engine ?? name;
  return found === undefined || found === 'sd3' ? null : percentDecoded(found);
}

function pathOfGeneration(model: string): 'core' | 'ultra' | 'sd3' {
  const found = /^(?:stable-image-)?(core|ultra)$/.exec(model);
  return (found?.[1] as 'core' | 'ultra' | undefined) ?? 'sd3';
}

/** Image editing tools by the name that replaces a model name, with the group of their path. */
const tools: Readonly<Record<string, string>> = {
  inpaint: 'edit',
  erase: 'edit',
  outpaint: 'edit',
  'search-and-replace': 'edit',
  'search-and-recolor': 'edit',
  'remove-background': 'edit',
  fast: 'upscale',
  conservative: 'upscale',
  sketch: 'control',
  structure: 'control',
  style: 'control',
  'style-transfer': 'control',
};

/** True for a name of `tools`, with or without `stable-image-` before it. */
export function isTool(model: string): boolean {
  return Object.hasOwn(tools, toolName(model));
}

/** Returns the path of an edit: that of a tool, or of a generation that takes an image. */
export function editPath(call: OperationCall): string {
  const name = toolName(call.model);
  return isTool(call.model) ? `/v2beta/stable-image/${tools[name]}/${name}` : generationPath(call);
}

function toolName(model: string): string {
  return model.replace(/^stable-image-/, '');
}
