import type { OperationCall } from '../../contract/provider/provider.ts';
import { nearestRatio } from '../media/aspect-ratio.ts';
import { noteOnce } from '../note-once.ts';

/** Shapes that Gemini's image models draw (@google/genai 3.1, `ImageConfig`), as width by height. */
const geminiRatios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;

/** Shape and size of an image in Google's words; `1K` is what is drawn unasked. */
export interface ImageSize {
  readonly aspectRatio?: string;
  readonly imageSize?: '2K' | '4K';
}

/**
 * OpenAI's `size` (`1536x1024`, `auto`) as the nearest shape that there is, and the size that its longer side asks for. What was
 * asked is reported where something else comes of it; a size that cannot be read is dropped.
 */
export function imageSizeOf(size: unknown, call: OperationCall, ratios: readonly string[] = geminiRatios): ImageSize {
  if (size === undefined || size === null || size === '' || size === 'auto') return {};
  const aspectRatio = nearestRatio(size, ratios);
  if (aspectRatio === null) {
    noteOnce(call.dropped, 'size');
    return {};
  }
  noteOnce(call.adapted, `size->aspect_ratio:${aspectRatio}`);
  const longer = Math.max(...String(size).split('x').map(Number));
  return { aspectRatio, ...(longer > 3000 ? { imageSize: '4K' } : longer > 1800 ? { imageSize: '2K' } : {}) };
}
