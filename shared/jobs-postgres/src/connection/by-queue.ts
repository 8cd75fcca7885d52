/** Groups items by queue. Preserves the order of the items within each group. */
export function byQueue<Item extends { readonly queue: string }>(items: Iterable<Item>): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(item.queue);
    if (group === undefined) groups.set(item.queue, [item]);
    else group.push(item);
  }
  return groups;
}
