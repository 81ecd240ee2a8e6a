-- What answers show of a card, as a JSON object: written with every good probe. None until there was one.
ALTER TABLE agents_cards ADD COLUMN kept TEXT;

UPDATE agents_cards SET kept =
    json_build_object('description', description, 'capabilities', coalesce(capabilities, '[]')::json, 'model', model,
        'pricePerCall', price_per_call, 'card', card::json, 'lastSeen', last_seen_ms)::text
    WHERE card IS NOT NULL;
