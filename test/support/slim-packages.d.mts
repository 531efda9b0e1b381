export function withLazyEmoji(text: string): string;
