import type { OperationCall } from '../../../contract/provider.ts';
import { noteOnce } from '../note-once.ts';

/** Shapes that Gemini's image models draw (@google/genai 3.1, `ImageConfig`), as width by height. */
const ratios: readonly (readonly [name: string, ratio: number])[] = [
  ...(['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const).map(
    (name) => [name, ratioOf(name)] as const,
  ),
];

/** Shape and size of an image in Google's words; `1K` is what is drawn unasked. */
export interface ImageSize {
  readonly aspectRatio?: string;
  readonly imageSize?: '2K' | '4K';
}

/**
 * OpenAI's `size` (`1536x1024`, `auto`) as the nearest shape that there is, and the size that its longer side asks for. What was
 * asked is reported where something else comes of it; a size that cannot be read is dropped.
 */
export function imageSizeOf(size: unknown, call: OperationCall, named = ratios): ImageSize {
  if (size === undefined || size === null || size === '' || size === 'auto') return {};
  const found = typeof size === 'string' ? /^(\d{2,5})x(\d{2,5})$/.exec(size) : null;
  if (!found) {
    noteOnce(call.dropped, 'size');
    return {};
  }
  const [width, height] = [Number(found[1]), Number(found[2])];
  const [aspectRatio] = nearest(width / height, named);
  noteOnce(call.adapted, `size->aspect_ratio:${aspectRatio}`);
  const longer = Math.max(width, height);
  return { aspectRatio, ...(longer > 3000 ? { imageSize: '4K' } : longer > 1800 ? { imageSize: '2K' } : {}) };
}

/** Shapes by name for models that have fewer of them. */
export function shapes(...names: readonly string[]): readonly (readonly [string, number])[] {
  return names.map((name) => [name, ratioOf(name)] as const);
}

/** Far off is a matter of proportion: 1:2 is as far from 1:1 as 2:1 is. */
function nearest(ratio: number, named: typeof ratios): (typeof ratios)[number] {
  const distance = (of: number): number => Math.abs(Math.log(of / ratio));
  return named.reduce((best, next) => (distance(next[1]) < distance(best[1]) ? next : best));
}

function ratioOf(name: string): number {
  const [width, height] = name.split(':').map(Number);
  return (width ?? 1) / (height ?? 1);
}
