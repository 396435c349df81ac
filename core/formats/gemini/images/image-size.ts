import type { OperationCall } from '../../../contract/provider/provider.ts';
import { nearestRatio } from '../../media/aspect-ratio.ts';
import { noteOnce } from '../../note-once.ts';

/** Aspect ratios of Gemini's image models (@google/genai 3.1, `ImageConfig`), width by height. */
const geminiRatios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'] as const;

/** Aspect ratio and size of an image in Google's terms. The default size is `1K`. */
export interface ImageSize {
  readonly aspectRatio?: string;
  readonly imageSize?: '2K' | '4K';
}

/**
 * Returns the nearest aspect ratio for OpenAI's `size` (`1536x1024`, `auto`), and the size for its longer side. Reports a size
 * that changes. Drops and reports a size that cannot be read.
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
